import "./visitor-pane.css";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Chat } from "../../api/types";
import { Icon } from "../../ui/icons";
import { CallsCard } from "../calls/calls-card";
import { useWorkspace } from "../workspace-context";
import { setBlacklisted } from "../chat-actions";
import { isVisitorPaneOpen } from "../state/agent/preferences";
import { erasureRoute, mergeRoute } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { closeVisitorPane, isVisitorPaneOverlayOpen } from "../state/list/view-state";
import { isAnonymous, visitorName } from "../state/list/chats";
import { CrmCard } from "./crm-card";
import { AnswersCard, PageDataCard } from "./custom-data";
import { EditableField } from "./editable-field";
import { HandoverCard } from "./handover-card";
import { OtherChats } from "./other-chats";
import { SessionCard } from "./session-card";
import { VisitorAvatar } from "./visitor-photo";
import { numbersText } from "../../ui/words";
import { plural, t } from "../../texts/translate";

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
      {isShown && <div class="visitor-shade" onClick={closeVisitorPane} />}
      <section class={classes} aria-label={t`Visitor`}>
        <header>
          <h2>{t`Visitor`}</h2>
          <button
            ref={close}
            type="button"
            class="btn only-icon close"
            aria-label={t`Close visitor details`}
            onClick={closeVisitorPane}
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

/** What the pane shows below the name, and how it is typed. */
const CONTACT_FIELDS = [
  { field: "email", label: t`E-mail`, type: "email", maxLength: 254 },
  { field: "phone", label: t`Phone`, type: "tel", maxLength: 254 },
  { field: "description", label: t`Description`, isLong: true, maxLength: 10_000 },
] as const;

const mergedText = (numbers: readonly number[]) =>
  plural(numbers.length, "Merged with visitor {numbers}", "Merged with visitors {numbers}", {
    numbers: numbersText(numbers),
  });

function VisitorCards({ chatId, detail }: { chatId: number; detail: Chat }) {
  const workspace = useWorkspace();
  const { visitor, panel } = detail;
  const save = (field: "name" | "email" | "phone" | "description") => async (value: string) => {
    await workspace.visitors.change(chatId, visitor.number, { [field]: value });
  };
  return (
    <>
      {visitor.blacklisted && (
        <p class="banner">
          <Icon name="ban" />
          {t`Blacklisted: new messages are dropped`}
        </p>
      )}
      <HandoverCard detail={detail} entries={workspace.timelines.open(chatId).entries.value} />
      <section class="card" aria-label={t`Contact`}>
        <div class="who">
          <VisitorAvatar number={visitor.number} name={visitor.name} photo={visitor.photo} />
          <div>
            <EditableField
              label={t`Name`}
              value={isAnonymous(visitor.name) ? null : visitor.name}
              displayText={visitorName(detail)}
              source={visitor.sources.name}
              isName
              canCopy
              maxLength={254}
              save={save("name")}
            />
            <small>
              {t`Visitor ${visitor.number}`} ·{" "}
              {visitor.chats_count === 1 && visitor.merged_with === undefined
                ? t`first chat`
                : plural(visitor.chats_count, "{count} chat", "{count} chats")}
            </small>
            {visitor.merged_with !== undefined && (
              <small>
                <a class="link" href={hrefOf(mergeRoute(visitor.number))}>
                  {mergedText(visitor.merged_with)}
                </a>
              </small>
            )}
          </div>
        </div>
        <dl class="edit">
          {CONTACT_FIELDS.map(({ field, label, ...input }) => (
            <Fragment key={field}>
              <dt>{field === "description" ? t`About` : label}</dt>
              <dd>
                <EditableField
                  {...input}
                  label={label}
                  value={visitor[field]}
                  source={visitor.sources[field]}
                  canCopy
                  save={save(field)}
                />
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
      <CrmCard
        chatId={chatId}
        panel={panel}
        isMine={detail.state === "active" && detail.agent?.id === workspace.me.id}
      />
      <AnswersCard panel={panel} />
      <PageDataCard panel={panel} />
      <SessionCard detail={detail} />
      <CallsCard chatId={chatId} />
      <OtherChats key={visitor.merged_with?.join()} chatId={chatId} number={visitor.number} />
      <section class="card" aria-label={t`Actions`}>
        <div class="acts-row">
          <button
            type="button"
            class="btn"
            onClick={() => void setBlacklisted(workspace, chatId, visitor.number, !visitor.blacklisted)}
          >
            <Icon name="ban" />
            {visitor.blacklisted ? t`Remove from the blacklist` : t`Blacklist`}
          </button>
          <a class="btn" href={hrefOf(mergeRoute(visitor.number))}>
            <Icon name="users-round" />
            {t`Merge…`}
          </a>
          {workspace.isAdmin && (
            <a class="btn bad" href={hrefOf(erasureRoute(visitor.number))}>
              <Icon name="trash-2" />
              {t`Erase…`}
            </a>
          )}
        </div>
      </section>
    </>
  );
}
