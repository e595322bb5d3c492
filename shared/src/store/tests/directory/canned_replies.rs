//! Tests of canned replies: unique shortcuts, the maximum number of replies, and concurrent changes.

use crate::store::tests::*;

fn reply(id: &str, shortcut: &str) -> CannedReply {
    CannedReply { id: id.into(), shortcut: shortcut.into(), text: format!("text of {id}"), ..CannedReply::default() }
}

impl Stores {
    async fn account_with_replies(replies: &[(&str, &str)]) -> Self {
        let stores = stores().await;
        stores.directory.create_account("Acme", &agent(1, "1@example.com"), &test_password_hash()).await.unwrap();
        for (id, shortcut) in replies {
            stores.directory.create_canned_reply("acc", &reply(id, shortcut)).await.unwrap();
        }
        stores
    }

    async fn rename_reply(&self, id: &str, shortcut: &str) -> Result<CannedReply, Error> {
        let rename = |before| CannedReply { shortcut: shortcut.into(), ..before };
        self.directory.edit_canned_reply("acc", id, rename).await
    }

    async fn shortcuts(&self) -> Vec<String> {
        let replies = self.directory.canned_replies("acc").await.unwrap();
        replies.into_iter().map(|reply| reply.shortcut).collect()
    }
}

fn is_taken<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Conflict("another canned reply has this shortcut")))
}

#[tokio::test]
async fn canned_replies_are_sorted_by_shortcut() {
    let stores = Stores::account_with_replies(&[("1", "hi"), ("2", "Bye"), ("3", "a")]).await;
    assert_eq!(stores.shortcuts().await, ["a", "Bye", "hi"]);
    assert_eq!(stores.directory.canned_replies("other").await.unwrap(), []);
    let roster = stores.directory.roster("acc").await.unwrap();
    assert!(roster.has_agent(1) && roster.departments().is_empty());
}

#[tokio::test]
async fn shortcut_belongs_to_one_reply_at_a_time() {
    let stores = Stores::account_with_replies(&[("1", "hi"), ("2", "bye")]).await;
    assert!(is_taken(&stores.directory.create_canned_reply("acc", &reply("3", "HI")).await));
    assert!(is_taken(&stores.rename_reply("2", "Hi").await));
    stores.rename_reply("1", "HI").await.unwrap();
    stores.rename_reply("1", "hello").await.unwrap();
    stores.rename_reply("2", "hi").await.unwrap();
    stores.directory.delete_canned_reply("acc", "1").await.unwrap();
    stores.directory.create_canned_reply("acc", &reply("3", "hello")).await.unwrap();
    assert_eq!(stores.shortcuts().await, ["hello", "hi"]);
    for refused in [
        stores.directory.delete_canned_reply("acc", "1").await,
        stores.rename_reply("1", "x").await.map(|_| ()),
        stores.directory.delete_canned_reply("other", "2").await,
    ] {
        assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    }
}

#[tokio::test]
async fn actions_are_stored_and_removed() {
    let stores = Stores::account_with_replies(&[("1", "hi")]).await;
    let change = async |actions: ReplyActions| {
        let edit = |before| CannedReply { actions: actions.clone(), ..before };
        stores.directory.edit_canned_reply("acc", "1", edit).await.unwrap();
        stores.directory.canned_replies("acc").await.unwrap().remove(0).actions
    };
    let transfer = |request| Some(LastAction::Transfer(request));
    let last_actions = [
        transfer(TransferRequest::Agent(1)),
        transfer(TransferRequest::Department(2)),
        transfer(TransferRequest::Bot("b".into())),
        Some(LastAction::Close),
        None,
    ];
    for last in last_actions {
        let actions = ReplyActions { add_tags: vec![3, 1], last };
        assert_eq!(change(actions.clone()).await, actions);
    }
    assert_eq!(change(ReplyActions::default()).await, ReplyActions::default());
}

#[tokio::test]
async fn concurrent_renames_leave_no_reserved_shortcut_behind() {
    let stores = Stores::account_with_replies(&[("1", "start")]).await;
    let names = ["a", "b", "c", "d"];
    for result in join_all(names.map(|name| stores.rename_reply("1", name))).await {
        result.unwrap();
    }
    let last = stores.shortcuts().await.remove(0);
    for (number, name) in names.iter().chain(&["start"]).enumerate() {
        let created = stores.directory.create_canned_reply("acc", &reply(&format!("new {number}"), name)).await;
        assert_eq!(is_taken(&created), *name == last, "{name}: {created:?}");
    }
}

#[tokio::test]
async fn concurrent_creations_do_not_exceed_the_maximum() {
    let stores = Stores::account_with_replies(&[]).await;
    let create = async |n: usize| {
        let reply = reply(&n.to_string(), &format!("s{n}"));
        stores.directory.create_canned_reply("acc", &reply).await
    };
    let results = join_all((0..MAX_CANNED_REPLIES + 5).map(create)).await;
    let refused = results.iter().filter(
        |result| matches!(result, Err(Error::Conflict(reason)) if reason.contains(&MAX_CANNED_REPLIES.to_string())),
    );
    assert_eq!(refused.count(), 5);
    let replies = stores.directory.canned_replies("acc").await.unwrap();
    assert_eq!(replies.len(), MAX_CANNED_REPLIES);
    stores.directory.delete_canned_reply("acc", &replies[0].id).await.unwrap();
    create(1_000).await.unwrap();
    assert!(create(1_001).await.is_err());
}
