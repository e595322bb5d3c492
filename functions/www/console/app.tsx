import "./app.css";
import { useEffect, useState } from "preact/hooks";
import { Announcer } from "../ui/announcer";
import { Toasts } from "../ui/toast";
import { ConnectionLine } from "./connection";
import { WorkspaceContext } from "./context";
import { Conversation } from "./conversation/conversation";
import { FloatingLayer } from "./floating";
import { FirstRun, isFirstRun } from "./first-run/first-run";
import { Inbox } from "./inbox/inbox";
import { followKeys } from "./keys";
import { Rail } from "./rail";
import { SignIn } from "./session/sign-in";
import { route } from "./state/route";
import { session, type Session } from "./state/session";
import { Workspace } from "./state/workspace";
import { VisitorsPage } from "./visitors/visitors";
import { VisitorPane } from "./visitor/visitor";

export function App() {
  const current = session.value;
  return (
    <>
      {current === undefined ? <SignIn /> : <SignedIn key={`${current.accountId}.${current.id}`} me={current} />}
      <Toasts />
      <Announcer />
    </>
  );
}

function SignedIn({ me }: { me: Session }) {
  const [workspace] = useState(() => new Workspace(me));
  useEffect(() => {
    workspace.start();
    const stopKeys = followKeys(workspace);
    return () => {
      stopKeys();
      workspace.stop();
    };
  }, [workspace]);
  return (
    <WorkspaceContext.Provider value={workspace}>
      <Panes workspace={workspace} />
      <FloatingLayer />
    </WorkspaceContext.Provider>
  );
}

function Panes({ workspace }: { workspace: Workspace }) {
  const { section, id } = route.value;
  if (section !== "inbox") {
    return (
      <div class="app section">
        <ConnectionLine />
        <Rail />
        <main class="page">
          <h1 class="sr">Switchboard console</h1>
          <VisitorsPage />
        </main>
      </div>
    );
  }
  const isFirst = id === undefined && isFirstRun(workspace);
  return (
    <div class={id !== undefined ? "app has-chat" : isFirst ? "app first" : "app"}>
      <ConnectionLine />
      <Rail />
      <main class="panes">
        <h1 class="sr">Switchboard console</h1>
        <Inbox />
        {id !== undefined ? (
          <>
            <Conversation key={id} chatId={id} />
            <VisitorPane key={`v${id}`} chatId={id} />
          </>
        ) : isFirst ? (
          <FirstRun />
        ) : (
          <Conversation chatId={undefined} />
        )}
      </main>
    </div>
  );
}
