/* The dialog in which agents replace their own password, and see and end their sessions. */

import "./own-account.css";
import type { AgentSession } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { currentMinute, formatAgo, fullTime } from "../../ui/time";
import { toast } from "../../ui/toast";
import { useLoaded } from "../admin/use-loaded";
import { errorText } from "../state/page/error-text";
import { browserName } from "../../ui/browser-name";
import { useWorkspace } from "../workspace-context";
import { OwnPasswordForm } from "./own-password-form";
import { LanguageSelect } from "./language-select";
import { plural, t } from "../../texts/translate";

export function OwnAccountDialog({ onClose }: { onClose: () => void }) {
  const { api, me } = useWorkspace();
  const loaded = useLoaded(async () => (await api.get("/agent/sessions")).sessions);
  const sessions = loaded.value;
  const reload = async () => loaded.setValue((await api.get("/agent/sessions")).sessions);
  const end = async (request: () => Promise<unknown>, text: string) => {
    try {
      await request();
      await reload();
      toast(text);
    } catch (error) {
      toast(errorText(error), { isBad: true });
    }
  };
  const endOne = ({ id }: AgentSession) =>
    end(() => api.delete("/agent/sessions/{session_id}", { path: { session_id: id } }), t`The session has ended.`);
  const endOthers = () => end(() => api.delete("/agent/sessions"), t`The other sessions have ended.`);
  const changed = (endedSessions: number) => {
    void reload().catch(() => {});
    toast(
      endedSessions === 0
        ? t`Your password is set.`
        : endedSessions === 1
          ? t`Your password is set. Another session has ended.`
          : plural(
              endedSessions,
              "Your password is set. {count} other session has ended.",
              "Your password is set. {count} other sessions have ended.",
            ),
    );
  };
  return (
    <Dialog title={t`Password and sessions`} class="own-account" onClose={onClose}>
      <div class="body scroll">
        <p class="quiet-text">
          {t`You are signed in as ${me.email === undefined ? me.name : `${me.name} (${me.email})`}. A new password ends your other sessions.`}
        </p>
        <LanguageSelect />
        <OwnPasswordForm onChanged={changed} />
        <h3>{t`Where you are signed in`}</h3>
        {loaded.problem !== undefined && <p role="alert">{loaded.problem}</p>}
        <ul class="sessions">
          {(sessions ?? []).map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => void endOne(session)} />
          ))}
        </ul>
        {(sessions ?? []).length > 1 && (
          <button type="button" class="btn line" onClick={() => void endOthers()}>
            {t`End all other sessions`}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** Says when a session was last used. Earlier times than some hours ago are days. */
function lastUsedText(at: number, now: number): string {
  const seconds = now - at;
  const ago = formatAgo(at, now);
  return seconds < 60 || seconds >= 12 * 3600 ? t`last used ${ago}` : t`last used ${ago} ago`;
}

function SessionRow({ session, onEnd }: { session: AgentSession; onEnd: () => void }) {
  const { user_agent: browser, source_address: address, created_at: createdAt, last_request_at: lastAt } = session;
  const name = browser === null ? t`Unknown browser` : browserName(browser);
  const details = [
    address,
    createdAt === null ? undefined : t`since ${fullTime(createdAt)}`,
    session.current ? undefined : lastUsedText(lastAt, currentMinute.value),
  ];
  return (
    <li>
      <div>
        {name}
        <small>{details.filter((detail) => detail !== undefined && detail !== null).join(" · ")}</small>
      </div>
      {session.current ? (
        <span class="chip">{t`This session`}</span>
      ) : (
        <button type="button" class="btn line" aria-label={t`End the session in ${name}`} onClick={onEnd}>
          {t`End`}
        </button>
      )}
    </li>
  );
}
