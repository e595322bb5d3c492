import "./visitor-pane.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { hasStatus } from "../../api/client";
import type { Chat, ChatRow, AgentPanel, VisitorFieldSource } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { BLOCKED_LINK, BlockedLink, LinkedText } from "../../ui/linked-text";
import { shortDay, currentMinute } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { setBlacklisted } from "../conversation/conversation";
import { isVisitorPaneOpen } from "../state/preferences";
import { chatHref } from "../state/route";
import { overlay, isVisitorPaneOverlayOpen } from "../state/view-state";
import { isAnonymous, errorText } from "../state/workspace";
import { browserName } from "./browser-name";

export function VisitorPane({ chatId }: { chatId: number }) {
  const { timelines } = useWorkspace();
  const timeline = timelines.open(chatId);
  const detail = timeline.chatDetails.value;
  const isShown = isVisitorPaneOverlayOpen.value;
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    isVisitorPaneOverlayOpen.value = false;
  }, [chatId]);
  useEffect(() => {
    if (isShown) close.current?.focus();
  }, [isShown]);
  if (timeline.loadState.value === "failed") return null;
  const classes = ["visitor", "scroll", isShown ? "shown" : "", isVisitorPaneOpen.value ? "" : "folded"]
    .filter(Boolean)
    .join(" ");
  return (
    <>
      {isShown && <div class="visitor-shade" onClick={() => (isVisitorPaneOverlayOpen.value = false)} />}
      <section class={classes} aria-label="Visitor">
        <header>
          <h2>Visitor</h2>
          <button
            ref={close}
            type="button"
            class="btn only-icon close"
            aria-label="Close visitor details"
            onClick={() => (isVisitorPaneOverlayOpen.value = false)}
          >
            <Icon name="x" class="large" />
          </button>
        </header>
        {detail === undefined ? (
          <VisitorSkeleton />
        ) : (
          <VisitorCards key={detail.visitor.number} chatId={chatId} detail={detail} />
        )}
      </section>
    </>
  );
}

function VisitorSkeleton() {
  return (
    <div class="card appear-late" aria-hidden="true">
      {[70, 90, 50, 80].map((width) => (
        <span key={width} class="skeleton" style={{ height: "12px", width: `${width}%` }} />
      ))}
    </div>
  );
}

function VisitorCards({ chatId, detail }: { chatId: number; detail: Chat }) {
  const workspace = useWorkspace();
  const { visitor, panel } = detail;
  const name = isAnonymous(visitor.name) ? `Visitor ${visitor.number}` : visitor.name;
  const save = (field: "name" | "email" | "phone" | "description") => async (value: string) => {
    await workspace.changeVisitor(chatId, visitor.number, { [field]: value });
  };
  return (
    <>
      {visitor.blacklisted && (
        <p class="banner">
          <Icon name="ban" />
          Blacklisted: new messages are dropped
        </p>
      )}
      <section class="card" aria-label="Contact">
        <div class="who">
          <Avatar
            id={visitor.number}
            name={visitor.name}
            photo={visitor.photo}
            isAnonymous={isAnonymous(visitor.name)}
          />
          <div>
            <EditableField
              label="Name"
              value={isAnonymous(visitor.name) ? null : visitor.name}
              displayText={name}
              source={visitor.sources.name}
              isName
              maxLength={254}
              save={save("name")}
            />
            <small>
              Visitor {visitor.number} · {visitor.chats_count === 1 ? "first chat" : `${visitor.chats_count} chats`}
            </small>
          </div>
        </div>
        <dl class="edit">
          <dt>
            E-mail
            {visitor.email && <SourceChip source={visitor.sources.email} />}
          </dt>
          <dd>
            <EditableField
              label="E-mail"
              value={visitor.email}
              type="email"
              maxLength={254}
              canCopy
              save={save("email")}
            />
          </dd>
          <dt>
            Phone
            {visitor.phone && <SourceChip source={visitor.sources.phone} />}
          </dt>
          <dd>
            <EditableField
              label="Phone"
              value={visitor.phone}
              type="tel"
              maxLength={254}
              canCopy
              save={save("phone")}
            />
          </dd>
          <dt>
            About
            {visitor.description && <SourceChip source={visitor.sources.description} />}
          </dt>
          <dd>
            <EditableField
              label="Description"
              value={visitor.description}
              isLong
              maxLength={10_000}
              save={save("description")}
            />
          </dd>
        </dl>
      </section>
      <CrmCard
        chatId={chatId}
        panel={panel}
        isMine={detail.state === "active" && detail.agent?.id === workspace.me.id}
      />
      <SessionCard detail={detail} />
      <OtherChats chatId={chatId} number={visitor.number} />
      <section class="card" aria-label="Actions">
        <div class="acts-row">
          <button
            type="button"
            class="btn"
            onClick={() => void setBlacklisted(workspace, chatId, visitor.number, !visitor.blacklisted)}
          >
            <Icon name="ban" />
            {visitor.blacklisted ? "Remove from the blacklist" : "Blacklist"}
          </button>
          {workspace.isAdmin && (
            <button
              type="button"
              class="btn bad"
              onClick={() => (overlay.value = { kind: "erase", chatId, number: visitor.number, name })}
            >
              <Icon name="trash-2" />
              Erase…
            </button>
          )}
        </div>
      </section>
    </>
  );
}

const SOURCE_LABELS: Record<VisitorFieldSource, string> = {
  visitor: "visitor",
  script: "page",
  integrator: "integrator",
  bot: "bot",
  crm: "CRM",
  agent: "agent",
};
const SOURCE_DESCRIPTIONS: Record<VisitorFieldSource, string> = {
  visitor: "Entered by the visitor",
  script: "Set by the page, which visitors can change",
  integrator: "Sent by your front end",
  bot: "Sent by the bot",
  crm: "From your CRM",
  agent: "Entered by an agent",
};

function SourceChip({ source }: { source: VisitorFieldSource | undefined }) {
  if (source === undefined) return null;
  return (
    <span class="source" title={SOURCE_DESCRIPTIONS[source]}>
      {SOURCE_LABELS[source]}
    </span>
  );
}

interface EditableFieldProps {
  label: string;
  value: string | null;
  /** The text shown instead of the raw value. */
  displayText?: string;
  /** Where the value comes from, shown after the value. */
  source?: VisitorFieldSource | undefined;
  type?: "text" | "email" | "tel";
  isLong?: boolean;
  isName?: boolean;
  canCopy?: boolean;
  maxLength: number;
  save: (value: string) => Promise<void>;
}

const focusOnce = (element: HTMLInputElement | HTMLTextAreaElement | null) => element?.focus();

/** A value that can be edited in place. The change is saved when the agent presses Enter or leaves the field, and
 * discarded when the agent presses Escape. */
function EditableField({
  label,
  value,
  displayText,
  source,
  type = "text",
  isLong,
  isName,
  canCopy,
  maxLength,
  save,
}: EditableFieldProps) {
  const [editedValue, setEditedValue] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const isCancelled = useRef(false);

  const closeEditor = (hasFocus: boolean) => {
    setEditedValue(undefined);
    setProblem(undefined);
    if (hasFocus) requestAnimationFrame(() => button.current?.focus());
  };
  const saveEdit = async (hasFocus: boolean) => {
    if (editedValue === undefined || isBusy || isCancelled.current) return;
    const newValue = editedValue.trim();
    // An empty value is not sent, because the service ignores it.
    if (newValue === (value ?? "") || newValue === "") return closeEditor(hasFocus);
    setBusy(true);
    try {
      await save(newValue);
      closeEditor(hasFocus);
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };

  if (editedValue !== undefined) {
    const common = {
      class: "input",
      "aria-label": label,
      "aria-invalid": problem !== undefined,
      value: editedValue,
      maxLength,
      dir: "auto" as const,
      // The field is not `disabled` while the change is saved, because it would then lose the focus.
      readOnly: isBusy,
      ref: focusOnce,
      onInput: (event: Event) => setEditedValue((event.currentTarget as HTMLInputElement).value),
      onBlur: () => void saveEdit(false),
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          isCancelled.current = true;
          closeEditor(true);
        } else if (event.key === "Enter" && !event.isComposing && (!isLong || event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          void saveEdit(true);
        }
      },
    };
    return (
      <div class="place">
        <form onSubmit={(event) => event.preventDefault()}>
          {isLong ? <textarea {...common} rows={4} /> : <input {...common} type={type as "text"} autocomplete="off" />}
          {problem !== undefined && (
            <span class="problem" role="alert">
              {problem}
            </span>
          )}
        </form>
      </div>
    );
  }

  const isEmpty = value === null || value === "";
  return (
    <div class="place">
      <button
        ref={button}
        type="button"
        class={["value", isName ? "name" : "", isEmpty && displayText === undefined ? "none" : ""]
          .filter(Boolean)
          .join(" ")}
        title={`Edit ${label.toLowerCase()}`}
        dir="auto"
        onClick={() => {
          isCancelled.current = false;
          setEditedValue(value ?? "");
        }}
      >
        <span class="sr">{`Edit ${label.toLowerCase()}: `}</span>
        {isEmpty ? (displayText ?? "Add") : value === BLOCKED_LINK ? <BlockedLink /> : (displayText ?? value)}
        {!isEmpty && <SourceChip source={source} />}
      </button>
      {canCopy && !isEmpty && <CopyButton text={value ?? ""} label={`Copy ${label.toLowerCase()}`} />}
    </div>
  );
}

function ExternalLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="link" href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <Icon name="external-link" />
    </a>
  );
}

const isWebUrl = (address: string | null | undefined): address is string =>
  typeof address === "string" && /^https?:\/\//i.test(address);

function CrmCard({ chatId, panel, isMine }: { chatId: number; panel: AgentPanel; isMine: boolean }) {
  const workspace = useWorkspace();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { custom_data, enable_assign, crm_link, assignment } = panel;
  if (custom_data.length === 0 && !enable_assign && crm_link === null && assignment === null) return null;
  const assign = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await workspace.assignToCrm(chatId);
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const isPending = assignment?.state === "pending";
  return (
    <section class="card" aria-label="From your CRM">
      <h3>From your CRM</h3>
      {enable_assign && assignment?.state !== "done" && (
        <button
          type="button"
          class="btn line wide"
          aria-disabled={isBusy || isPending || !isMine}
          title={isMine ? undefined : "Accept the chat first"}
          onClick={() => void assign()}
        >
          {isPending ? "Assigning…" : assignment?.state === "failed" ? "Assign again" : "Assign to a card"}
        </button>
      )}
      {assignment?.state === "done" && (
        <p class="outcome done" role="status">
          <Icon name="circle-check" />
          Assigned to the CRM card
        </p>
      )}
      {assignment?.state === "failed" && (
        <p class="outcome failed" role="status">
          <Icon name="circle-alert" />
          <span dir="auto">Not assigned. {assignment.message}</span>
        </p>
      )}
      {problem !== undefined && (
        <p class="outcome failed" role="alert">
          <Icon name="circle-alert" />
          {problem}
        </p>
      )}
      {custom_data.length > 0 && <CustomData lines={custom_data} />}
      {isWebUrl(crm_link) && (
        <a class="btn wide" href={crm_link} target="_blank" rel="noopener noreferrer">
          Open in CRM
          <Icon name="external-link" class="small" />
        </a>
      )}
    </section>
  );
}

/** Shows the custom data that webhooks have sent (specification, part C). A line's title is shown above its content.
 * Its key is shown before the content, followed by a colon. */
function CustomData({ lines }: { lines: AgentPanel["custom_data"] }) {
  return (
    <div class="custom">
      {lines.map(({ title, content, link, key }, index) => {
        const value = isWebUrl(link) ? (
          <ExternalLink href={link}>{content || link}</ExternalLink>
        ) : (
          <LinkedText text={content} />
        );
        if (key === null && title !== null && content.length <= 40) {
          return (
            <dl key={index}>
              <dt dir="auto">{title}</dt>
              <dd dir="auto">{value}</dd>
            </dl>
          );
        }
        return (
          <div key={index}>
            {title !== null && <h4 dir="auto">{title}</h4>}
            <p dir="auto">
              {key !== null && <b>{key}: </b>}
              {value}
            </p>
          </div>
        );
      })}
    </div>
  );
}

function SessionCard({ detail }: { detail: Chat }) {
  const { visitor, panel, session } = detail;
  const page = panel.page ?? detail.page ?? null;
  const pageUrl = page?.url ?? visitor.url;
  const geo = session?.geoip;
  const place = [geo?.city, geo?.region !== geo?.city ? geo?.region : undefined, geo?.country]
    .filter(Boolean)
    .join(", ");
  const utm = session?.utm_json;
  const campaign = [utm?.source, utm?.medium, utm?.campaign, utm?.term, utm?.content].filter(Boolean).join(" / ");
  const lines: [string, ComponentChildren][] = [];
  if (pageUrl)
    lines.push([
      "Page",
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
      "Came from",
      isWebUrl(detail.referrer) ? (
        <ExternalLink href={detail.referrer}>{shortUrl(detail.referrer)}</ExternalLink>
      ) : (
        detail.referrer
      ),
    ]);
  if (campaign !== "") lines.push(["Campaign", campaign]);
  if (place !== "") lines.push(["Place", place]);
  if (geo?.organization) lines.push(["Network", geo.organization]);
  if (session?.user_agent)
    lines.push(["Browser", <span title={session.user_agent}>{browserName(session.user_agent)}</span>]);
  if (session?.ip_addr) lines.push(["Address", session.ip_addr]);
  lines.push(["Channel", detail.channel.name]);
  if (visitor.id !== "") lines.push(["External id", <span class="num">{visitor.id}</span>]);
  return (
    <section class="card" aria-label="Session">
      <h3>Session</h3>
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

/** Lists the visitor's other chats. If the service does not have this endpoint, lists only those that are loaded. */
function OtherChats({ chatId, number }: { chatId: number; number: number }) {
  const { api, chats } = useWorkspace();
  const [loaded, setLoaded] = useState<
    { rows: readonly ChatRow[]; next: string | number | null } | "local" | "failed"
  >();
  const loadPage = async (cursor?: string | number) => {
    try {
      const options = { path: { number }, query: cursor === undefined ? {} : { cursor: String(cursor) } };
      const { chats: rows, next } = await api.get("/agent/visitors/{number}/chats", options);
      setLoaded((before) => ({
        rows: [...(cursor !== undefined && typeof before === "object" ? before.rows : []), ...rows],
        next,
      }));
    } catch (error) {
      setLoaded(hasStatus(error, 404, 405) ? "local" : "failed");
    }
  };
  useEffect(() => void loadPage(), [number]);
  if (loaded === undefined) return null;
  if (loaded === "failed") {
    return (
      <section class="card" aria-label="Other chats">
        <h3>Other chats</h3>
        <p class="outcome failed">The chats cannot be loaded.</p>
      </section>
    );
  }
  const allChats =
    loaded === "local" ? [...chats.rows.value.values()].filter((row) => row.visitor.number === number) : loaded.rows;
  const rows = allChats.filter((row) => row.chat_id !== chatId).sort((a, b) => b.chat_id - a.chat_id);
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-label="Other chats">
      <h3>
        Other chats{" "}
        <b>
          {rows.length}
          {loaded !== "local" && loaded.next !== null ? "+" : ""}
        </b>
      </h3>
      <ul class="past">
        {rows.map((row) => (
          <li key={row.chat_id}>
            <a href={chatHref(row.chat_id)}>
              <span class="clip" dir="auto">
                {row.last_message?.text || `Chat #${row.chat_id}`}
              </span>
              <time>{row.state === "closed" ? shortDay(row.updated_at, currentMinute.value) : row.state}</time>
            </a>
          </li>
        ))}
      </ul>
      {loaded !== "local" && loaded.next !== null && (
        <button type="button" class="btn wide" onClick={() => void loadPage(loaded.next ?? undefined)}>
          Show more
        </button>
      )}
    </section>
  );
}
