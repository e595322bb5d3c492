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
    end(() => api.delete("/agent/sessions/{session_id}", { path: { session_id: id } }), "The session has ended.");
  const endOthers = () => end(() => api.delete("/agent/sessions"), "The other sessions have ended.");
  const changed = (endedSessions: number) => {
    void reload().catch(() => {});
    toast(
      endedSessions === 0
        ? "Your password is set."
        : `Your password is set. ${endedSessions === 1 ? "Another session has" : `${endedSessions} other sessions have`} ended.`,
    );
  };
  return (
    <Dialog title="Password and sessions" class="own-account" onClose={onClose}>
      <div class="body scroll">
        <p class="quiet-text">
          You are signed in as {me.name}
          {me.email === undefined ? "" : ` (${me.email})`}. A new password ends your other sessions.
        </p>
        <OwnPasswordForm onChanged={changed} />
        <h3>Where you are signed in</h3>
        {loaded.problem !== undefined && <p role="alert">{loaded.problem}</p>}
        <ul class="sessions">
          {(sessions ?? []).map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => void endOne(session)} />
          ))}
        </ul>
        {(sessions ?? []).length > 1 && (
          <button type="button" class="btn line" onClick={() => void endOthers()}>
            End all other sessions
          </button>
        )}
      </div>
    </Dialog>
  );
}

function SessionRow({ session, onEnd }: { session: AgentSession; onEnd: () => void }) {
  const { user_agent: browser, source_address: address, created_at: createdAt, last_request_at: lastAt } = session;
  const name = browser === null ? "Unknown browser" : browserName(browser);
  const ago = formatAgo(lastAt, currentMinute.value);
  const details = [
    address,
    createdAt === null ? undefined : `since ${fullTime(createdAt)}`,
    session.current ? undefined : `last used ${ago.replace(/(h|min)$/, "$1 ago")}`,
  ];
  return (
    <li>
      <div>
        {name}
        <small>{details.filter((detail) => detail !== undefined && detail !== null).join(" · ")}</small>
      </div>
      {session.current ? (
        <span class="chip">This session</span>
      ) : (
        <button type="button" class="btn line" aria-label={`End the session in ${name}`} onClick={onEnd}>
          End
        </button>
      )}
    </li>
  );
}
