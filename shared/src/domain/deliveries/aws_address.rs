//! The addresses of webhooks in AWS: queues, event buses, and the roles that may send to them.

/// Returns the region of a queue URL such as `https://sqs.eu-central-1.amazonaws.com/123456789012/chats`, or `None` if
/// the text is no such URL.
pub fn queue_region(url: &str) -> Option<&str> {
    let (host, path) = url.strip_prefix("https://sqs.")?.split_once('/')?;
    let region = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    let (account, name) = path.split_once('/')?;
    let stem = name.strip_suffix(FIFO_SUFFIX).unwrap_or(name);
    (is_region(region) && is_account(account) && is_name(stem, "-_") && name.len() <= MAX_QUEUE_NAME_BYTES)
        .then_some(region)
}

/// Returns the region of an ARN such as `arn:aws:events:eu-central-1:123456789012:event-bus/chats`, or `None` if the
/// text is no such ARN.
pub fn event_bus_region(arn: &str) -> Option<&str> {
    let [region, account, resource] = arn_parts(arn, "events")?;
    let name = resource.strip_prefix("event-bus/")?;
    (is_region(region) && is_account(account) && is_name(name, "-_./") && name.len() <= MAX_BUS_NAME_BYTES)
        .then_some(region)
}

/// Whether a text is an ARN such as `arn:aws:iam::123456789012:role/switchboard`.
pub fn is_role_arn(arn: &str) -> bool {
    let Some([region, account, resource]) = arn_parts(arn, "iam") else { return false };
    let name = resource.strip_prefix("role/").unwrap_or_default();
    region.is_empty() && is_account(account) && is_name(name, "-_./+=,@") && arn.len() <= MAX_ROLE_ARN_BYTES
}

pub fn is_fifo_queue(url: &str) -> bool {
    url.ends_with(FIFO_SUFFIX)
}

const FIFO_SUFFIX: &str = ".fifo";
const MAX_QUEUE_NAME_BYTES: usize = 80;
const MAX_BUS_NAME_BYTES: usize = 256;
const MAX_ROLE_ARN_BYTES: usize = 2_048;
const ACCOUNT_DIGITS: usize = 12;

/// Returns the region, the account and the resource of an ARN of this service.
fn arn_parts<'a>(arn: &'a str, service: &str) -> Option<[&'a str; 3]> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let [prefix, partition, found, region, account, resource] = parts[..] else { return None };
    let is_aws = prefix == "arn" && (partition == "aws" || partition.starts_with("aws-"));
    (is_aws && found == service).then_some([region, account, resource])
}

fn is_region(text: &str) -> bool {
    text.contains('-') && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_account(text: &str) -> bool {
    text.len() == ACCOUNT_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(text: &str, symbols: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_ascii_alphanumeric() || symbols.contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queues_of_aws_have_a_region() {
        let url = "https://sqs.eu-central-1.amazonaws.com/123456789012/chats";
        assert_eq!(queue_region(url), Some("eu-central-1"));
        assert_eq!(queue_region(&format!("{url}.fifo")), Some("eu-central-1"));
        assert!(is_fifo_queue(&format!("{url}.fifo")) && !is_fifo_queue(url));
        let others = [
            url.replace("https", "http"),
            url.replace("sqs.", "sqs.evil.example/"),
            url.replace("amazonaws.com", "amazonaws.com.evil.example"),
            url.replace("eu-central-1", "10.0.0.1"),
            url.replace("123456789012", "12345"),
            format!("{url}/more"),
            format!("{url}?x=1"),
            format!("{url}{}", "x".repeat(80)),
            "https://sqs.eu-central-1.amazonaws.com/123456789012/".to_owned(),
        ];
        for other in others {
            assert_eq!(queue_region(&other), None, "{other}");
        }
    }

    #[test]
    fn arns_name_their_service() {
        let (bus, role) = ("arn:aws:events:eu-west-1:123456789012:event-bus/a/b", "arn:aws:iam::123456789012:role/a/b");
        assert_eq!(event_bus_region(bus), Some("eu-west-1"));
        assert_eq!(event_bus_region(&bus.replace("aws:", "aws-us-gov:")), Some("eu-west-1"));
        assert!(is_role_arn(role) && !is_role_arn(bus) && event_bus_region(role).is_none());
        for wrong in
            ["", "arn", "arn:aws:iam::1:role/a", "arn:aws:iam::123456789012:user/a", "arn:aws:iam::123456789012:role/"]
        {
            assert!(!is_role_arn(wrong), "{wrong}");
        }
        assert_eq!(event_bus_region(&bus.replace("event-bus/", "rule/")), None);
    }
}
