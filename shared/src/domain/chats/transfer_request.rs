//! To whom an agent wants to give a chat. The recipient may not exist.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferRequest {
    Agent(u64),
    Department(u64),
    Bot(String),
}
