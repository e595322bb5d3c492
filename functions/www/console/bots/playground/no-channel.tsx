import { Icon } from "../../../ui/icons";
import { botRoute, CHANNELS_ROUTE } from "../../state/page/page-routes";
import { hrefOf } from "../../state/page/route";
import { t } from "../../../texts/translate";

/** Shown if no visitor of a website gets the bot. `hasWidgets` tells whether the account has a channel to choose. */
export function NoChannel({ botId, hasWidgets }: { botId: string; hasWidgets: boolean }) {
  return (
    <div class="blank">
      <Icon name="bot" />
      <h2>{t`The bot has no website channel`}</h2>
      <p>
        {t`The playground writes as a visitor of a website.`}{" "}
        {hasWidgets
          ? t`Choose a website among the bot's channels, and save.`
          : t`Add a channel of the kind Website, then choose it among the bot's channels.`}
      </p>
      {!hasWidgets && (
        <a class="btn primary" href={hrefOf(CHANNELS_ROUTE)}>
          {t`Channels`}
        </a>
      )}
      <a class={hasWidgets ? "btn primary" : "btn line"} href={hrefOf(botRoute(botId))}>
        {t`The bot’s channels`}
      </a>
    </div>
  );
}
