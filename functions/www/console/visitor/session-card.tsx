import type { ComponentChildren } from "preact";
import type { Chat } from "../../api/types";
import { BLOCKED_LINK, BlockedLink } from "../../ui/linked-text";
import { browserName } from "../../ui/browser-name";
import { ExternalLink, isWebUrl } from "./external-link";
import { t } from "../../texts/translate";

/** The id of a visitor of a widget. The service makes it, so it tells an agent nothing. */
const WIDGET_VISITOR_ID = /^[0-9a-f]{64}$/;

/** Shows the visitor's session, for example the page, the campaign, the place and the browser. */
export function SessionCard({ detail }: { detail: Chat }) {
  const { visitor, panel, session } = detail;
  const page = panel.page ?? detail.page ?? null;
  const pageUrl = page?.url ?? visitor.url ?? visitor.url_text;
  const geo = session?.geoip;
  const place = [geo?.city, geo?.region !== geo?.city ? geo?.region : undefined, geo?.country]
    .filter(Boolean)
    .join(", ");
  const utm = session?.utm_json;
  const campaign = [utm?.source, utm?.medium, utm?.campaign, utm?.term, utm?.content].filter(Boolean).join(" / ");
  const lines: [string, ComponentChildren][] = [];
  if (pageUrl)
    lines.push([
      t`Page`,
      isWebUrl(pageUrl) ? (
        <ExternalLink href={pageUrl}>{page?.title || shortUrl(pageUrl)}</ExternalLink>
      ) : pageUrl === BLOCKED_LINK ? (
        <BlockedLink />
      ) : (
        pageUrl
      ),
    ]);
  if (detail.referrer)
    lines.push([
      t`Came from`,
      isWebUrl(detail.referrer) ? (
        <ExternalLink href={detail.referrer}>{shortUrl(detail.referrer)}</ExternalLink>
      ) : (
        detail.referrer
      ),
    ]);
  if (campaign !== "") lines.push([t`Campaign`, campaign]);
  if (place !== "") lines.push([t`Place`, place]);
  if (geo?.organization) lines.push([t`Network`, geo.organization]);
  if (session?.user_agent)
    lines.push([t`Browser`, <span title={session.user_agent}>{browserName(session.user_agent)}</span>]);
  if (session?.ip_addr) lines.push([t`Address`, session.ip_addr]);
  lines.push([t`Channel`, detail.channel.name], [t`Chat`, <span class="num">#{detail.chat_id}</span>]);
  if (visitor.id !== "" && !WIDGET_VISITOR_ID.test(visitor.id))
    lines.push([t`External id`, <span class="num">{visitor.id}</span>]);
  return (
    <section class="card" aria-label={t`Session`}>
      <h3>{t`Session`}</h3>
      <dl>
        {lines.map(([name, value]) => [
          <dt key={`${name}-t`}>{name}</dt>,
          <dd key={name} dir="auto">
            {value}
          </dd>,
        ])}
      </dl>
    </section>
  );
}

function shortUrl(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname } = new URL(address);
  const short = host.replace(/^www\./, "") + (pathname === "/" ? "" : pathname);
  return short.length > 60 ? `${short.slice(0, 59)}…` : short;
}
