import { Icon } from "../ui/icons";
import { useWorkspace } from "./context";
import { SECTION_NAMES } from "./rail";
import type { Section } from "./state/route";
import { floating } from "./state/view";
import { VisitorsPage } from "./visitors/visitors";

/** The pages beside the inbox. Those of admins have their own bundles; until one is there, its place says what to use. */
export function SectionPage({ section }: { section: Section }) {
  const { isAdmin } = useWorkspace();
  const { name, icon, isForAdmins } = SECTION_NAMES[section];
  if (isForAdmins && !isAdmin) {
    return (
      <div class="blank" style={{ height: "100%" }}>
        <Icon name="lock" />
        <h2>{name} is for admins</h2>
        <p>You are signed in as an agent. Ask an admin of your account if you need something here.</p>
        <a class="btn line" href="#/">
          Back to the inbox
        </a>
      </div>
    );
  }
  if (section === "visitors") return <VisitorsPage />;
  return (
    <div class="blank" style={{ height: "100%" }}>
      <Icon name={icon} />
      <h2>{name}</h2>
      <p>This page is not in this version yet. The API has it: see /openapi.json.</p>
      {section === "channels" ? (
        <button type="button" class="btn primary" onClick={() => (floating.value = { kind: "channel" })}>
          Add a channel
        </button>
      ) : (
        <a class="btn line" href="#/">
          Back to the inbox
        </a>
      )}
    </div>
  );
}
