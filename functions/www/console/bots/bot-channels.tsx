import { ChoiceList } from "../admin/choice-list";
import { LoadedPage } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

interface BotChannelsProps {
  chosen: readonly string[];
  problem: string | undefined;
  onChange: (channelIds: string[]) => void;
}

/** The channels on which a bot answers. */
export function BotChannels({ chosen, problem, onChange }: BotChannelsProps) {
  const { channels: list } = useWorkspace();
  const request = useLoaded(async () => {
    if (list.items.peek() === undefined) await list.load();
  });
  const loaded = { value: list.items.value, problem: request.problem, reload: request.reload };
  return (
    <LoadedPage loaded={loaded} what={t`The channels`}>
      {(channels) =>
        channels.length === 0 ? (
          <p class="quiet-text">{t`There are no channels yet. You can choose them later.`}</p>
        ) : (
          <ChoiceList
            id="channel_ids"
            label={t`Channels`}
            help={t`The bot answers visitors of these channels first.`}
            options={channels.map(({ channel_id, name }) => ({ id: channel_id, name }))}
            chosen={chosen}
            problem={problem}
            onChange={onChange}
          />
        )
      }
    </LoadedPage>
  );
}
