import type { Channel } from "../../api/types";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { CHANNELS_ROUTE } from "../state/page/page-routes";
import { navigate } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { keptDraftsOf } from "./kept-drafts";
import { t } from "../../texts/translate";

/** The last part of a channel's page, which deletes the channel. */
export function DeleteChannel({ channel, effect }: { channel: Channel; effect: string }) {
  const workspace = useWorkspace();
  const { api, channels } = workspace;
  const remove = async () => {
    await api.delete("/admin/channels/{channel_id}", { path: { channel_id: channel.channel_id } });
    channels.remove(channel.channel_id);
    keptDraftsOf(workspace).delete(channel.channel_id);
    navigate(CHANNELS_ROUTE, true);
    toast(t`${channel.name} is deleted.`);
  };
  return (
    <DeleteByName
      thing={t`the channel`}
      name={channel.name}
      id={channel.channel_id}
      effect={t`${effect} Chats and their messages are kept.`}
      remove={remove}
    />
  );
}
