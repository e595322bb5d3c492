import type { Channel, ChannelChanges } from "../../api/types";
import { toast } from "../../ui/toast";
import { useSettingsForm, type Problems } from "../admin/use-settings-form";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** The state of a channel's form, with a function that stores changes. `fields` are the names of the fields that show
 * their own problems. */
export function useChannelForm<Kind extends Channel>(
  channel: Kind,
  fields: readonly string[],
  onStored: (channel: Kind) => void,
) {
  const { api, channels } = useWorkspace();
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(fields);

  const save = async (changes: ChannelChanges | undefined, found: Problems): Promise<Kind | undefined> => {
    if (changes === undefined && Object.keys(found).length === 0) return undefined;
    const path = { channel_id: channel.channel_id };
    const stored = await send(found, () => api.patch("/admin/channels/{channel_id}", { path, body: changes ?? {} }));
    if (stored === undefined) return undefined;
    channels.put(stored);
    onStored(stored as Kind);
    toast(t`Saved. It applies within ten seconds.`);
    return stored as Kind;
  };
  return { form, problems, setProblems, isBusy, save };
}
