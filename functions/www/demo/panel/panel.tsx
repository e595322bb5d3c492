/* The panes of the agent and the integrator beside the shop. Where the page is too narrow for both, they share one pane
   with tabs. On a phone, the pane is a dialog. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { entries } from "./journal";
import { JournalView } from "./journal-view";
import { Tabs, type Tab } from "./tabs";
import { WidgetApiView } from "./widget-api-view";

type Layout = "three columns" | "two columns" | "dialog";

const layout = signal<Layout>("dialog");
const THREE_COLUMNS = matchMedia("(min-width: 1360px)");
const TWO_COLUMNS = matchMedia("(min-width: 900px)");
for (const query of [THREE_COLUMNS, TWO_COLUMNS]) query.addEventListener("change", updateLayout);
updateLayout();

function updateLayout(): void {
  layout.value = THREE_COLUMNS.matches ? "three columns" : TWO_COLUMNS.matches ? "two columns" : "dialog";
}

const apiTab = (): Tab => ({ id: "api", title: "Widget API", content: <WidgetApiView /> });
const journalTab = (): Tab => ({
  id: "journal",
  title: "Journal",
  count: entries.value.length,
  content: <JournalView />,
});

export function Panel() {
  switch (layout.value) {
    case "three columns":
      return (
        <>
          <aside class="pane" aria-labelledby="agent-title">
            <header class="strip">
              <b>2</b>
              <h2 id="agent-title">Agent</h2>
              <span>the console</span>
              <nav aria-label="Console">
                <ConsoleLinks />
              </nav>
            </header>
            <ConsoleFrame />
          </aside>
          <aside class="pane" aria-labelledby="integrator-title">
            <header class="strip">
              <b>3</b>
              <h2 id="integrator-title">Integrator</h2>
              <span>the page’s scripts, and your servers</span>
            </header>
            <Tabs label="Integrator" tabs={[apiTab(), journalTab()]} />
          </aside>
        </>
      );
    case "two columns":
      return (
        <aside class="pane" aria-labelledby="panel-title">
          <header class="strip">
            <b>2</b>
            <h2 id="panel-title">Agent and integrator</h2>
            <nav aria-label="Console">
              <ConsoleLinks />
            </nav>
          </header>
          <Tabs
            label="Agent and integrator"
            tabs={[{ id: "agent", title: "Agent", content: <ConsoleFrame /> }, apiTab(), journalTab()]}
          />
        </aside>
      );
    case "dialog":
      return <PanelDialog />;
  }
}

function PanelDialog() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const button = document.getElementById("open-panel");
    const open = () => setOpen(true);
    button?.addEventListener("click", open);
    return () => button?.removeEventListener("click", open);
  }, []);
  if (!isOpen) return null;
  return (
    <Dialog title="Agent and integrator" onClose={() => setOpen(false)}>
      <div class="pane">
        <nav class="links" aria-label="Console">
          <ConsoleLinks />
        </nav>
        <Tabs label="Integrator" tabs={[apiTab(), journalTab()]} />
      </div>
    </Dialog>
  );
}

function ConsoleLinks() {
  return (
    <>
      <ConsoleLink user="agent" title="Open as agent" />
      <ConsoleLink user="admin" title="Open as admin" />
    </>
  );
}

/** A link that opens the console in another tab and signs in the user. The tab has a session of its own. */
function ConsoleLink({ user, title }: { user: "agent" | "admin"; title: string }) {
  return (
    <a href={`/demo/sign-in/${user}`} target="_blank" rel="noopener">
      {title} <Icon name="external-link" label="in a new tab" />
    </a>
  );
}

function ConsoleFrame() {
  return <iframe title="Console of the demo agent" loading="lazy" src="/demo/console/sign-in" />;
}
