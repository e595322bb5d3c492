import "./app.css";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Announcer } from "../ui/announcer";
import { lazyComponent } from "../ui/lazy-component";
import { Toasts } from "../ui/toast";
import { CallBanner } from "./calls/call-banner";
import { ConnectionBanner } from "./connection-banner";
import { WorkspaceContext } from "./workspace-context";
import { AdminsOnly } from "./admins-only";
import { sectionNamed } from "./sections";
import { nextChatOpener, requestClose } from "./chat-actions";
import { Conversation } from "./conversation/conversation";
import { NavigationRail } from "./navigation/navigation-rail";
import { OverlayLayer, preloadDialogs } from "./overlays";
import { Inbox } from "./inbox/inbox";
import { listenForShortcuts } from "./keyboard-shortcuts";
import { SignIn } from "./session/sign-in";
import { sectionName } from "./state/page/page-title";
import { isFirstRun } from "./state/list/empty-account";
import { route } from "./state/page/route";
import { session, type Session } from "./state/agent/session";
import { Workspace } from "./state/workspace";
import { VisitorPane } from "./visitor/visitor-pane";
import { t } from "../texts/translate";

/** Loaded when it is needed, because it is shown once to an agent. */
const FirstPassword = lazyComponent(() =>
  import("./session/first-password").then(({ FirstPassword }) => FirstPassword),
);
/** The same for accounts. */
const FirstRun = lazyComponent(() => import("./first-run/first-run").then(({ FirstRun }) => FirstRun));

export function App() {
  const current = session.value;
  return (
    <>
      {current === undefined ? (
        <SignIn />
      ) : current.mustChangePassword === true ? (
        <FirstPassword />
      ) : (
        <SignedIn key={`${current.accountId}.${current.id}`} me={current} />
      )}
      <Toasts />
      <Announcer />
    </>
  );
}

function SignedIn({ me }: { me: Session }) {
  const [workspace] = useState(() => new Workspace(me));
  useEffect(() => {
    workspace.macros.onClose = (chatId) => requestClose(workspace, chatId);
    workspace.macros.onTransfer = (chatId) => nextChatOpener(workspace, chatId)();
    workspace.start();
    preloadDialogs();
    const stopKeys = listenForShortcuts(workspace);
    return () => {
      stopKeys();
      workspace.stop();
    };
  }, [workspace]);
  return (
    <WorkspaceContext.Provider value={workspace}>
      <Panes workspace={workspace} />
      <OverlayLayer />
    </WorkspaceContext.Provider>
  );
}

function Panes({ workspace }: { workspace: Workspace }) {
  const { section, id } = route.value;
  const { title, Page, adminsOnly } = sectionNamed(section);
  const connection = workspace.sync.connection.value.kind;
  useLayoutEffect(() => {
    sectionName.value = title;
  }, [title]);
  if (Page !== undefined) {
    return (
      <div class="app section" data-connection={connection}>
        <ConnectionBanner />
        <CallBanner />
        <NavigationRail />
        <main class="page">
          <h1 class="sr">{t`Switchboard console`}</h1>
          <AdminsOnly text={adminsOnly}>
            <Page key={section} />
          </AdminsOnly>
        </main>
      </div>
    );
  }
  const isFirst = id === undefined && isFirstRun(workspace);
  return (
    <div class={id !== undefined ? "app has-chat" : isFirst ? "app first" : "app"} data-connection={connection}>
      <ConnectionBanner />
      <CallBanner />
      <NavigationRail />
      <main class="panes">
        <h1 class="sr">{t`Switchboard console`}</h1>
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
