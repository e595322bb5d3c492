/* What a bot did within the last hour. */

import { Icon } from "../../ui/icons";
import { formatDuration } from "../../ui/time";
import { FormSection } from "../admin/detail-header";
import { LoadedPage } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

const duration = (ms: number | null) => (ms === null ? "–" : formatDuration(ms));

export function BotActivity({ botId }: { botId: string }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/bots/{bot_id}/activity", { path: { bot_id: botId } }));
  return (
    <FormSection title={t`The last hour`}>
      <LoadedPage loaded={loaded} what={t`The activity`}>
        {({ events, answered, failed, handed_over, fallbacks, is_complete, ...shown }) => (
          <>
            {events === 0 ? (
              <p class="quiet-text">{t`The bot was sent nothing.`}</p>
            ) : (
              <dl class="facts bot-activity" aria-busy={loaded.isLoading}>
                <dt>{t`Events sent to the bot`}</dt>
                <dd class="num">{events}</dd>
                <dt>{t`Accepted`}</dt>
                <dd class="num">{answered}</dd>
                <dt>{t`Failed`}</dt>
                <dd class={failed > 0 ? "num is-bad" : "num"}>{failed}</dd>
                <dt>{t`Slowest acknowledgement`}</dt>
                <dd class="num">{duration(shown.slowest_ms)}</dd>
                <dt>{t`Answers to visitors`}</dt>
                <dd class="num">{shown.answers}</dd>
                <dt>{t`Answer, median time`}</dt>
                <dd class="num">{duration(shown.median_answer_ms)}</dd>
                <dt>{t`Answer, slowest`}</dt>
                <dd class="num">{duration(shown.slowest_answer_ms)}</dd>
                <dt>{t`Answers refused because the visitor had written again`}</dt>
                <dd class="num">{shown.superseded_answers}</dd>
                <dt>{t`Chats handed over by the bot or on request`}</dt>
                <dd class="num">{handed_over}</dd>
                <dt>{t`Chats handed over because it failed`}</dt>
                <dd class={fallbacks > 0 ? "num is-bad" : "num"}>{fallbacks}</dd>
              </dl>
            )}
            {!is_complete && (
              <p class="quiet-text">{t`There were too many chats. The numbers are those of the newest.`}</p>
            )}
            <div>
              <button type="button" class="btn line" aria-disabled={loaded.isLoading} onClick={loaded.reload}>
                <Icon name="refresh-cw" />
                {t`Refresh`}
              </button>
            </div>
          </>
        )}
      </LoadedPage>
    </FormSection>
  );
}
