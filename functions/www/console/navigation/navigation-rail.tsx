import "./navigation-rail.css";
import { useRef, useState } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { Popover } from "../../ui/popover";
import logo from "../icon.svg";
import type { Section } from "../section";
import { visibleSections } from "../sections";
import { useFailureText } from "../state/alerts/failed-deliveries";
import { hrefOf, route } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { ProfileButton } from "./profile-menu";
import { t } from "../../texts/translate";

interface SectionState {
  section: Section;
  /** The number of waiting chats. */
  count: number;
  /** The number of the agent's own chats with unread messages. */
  unread: number;
  /** Whether something on the page needs attention. */
  hasDot: boolean;
  /** The name with the state in words. */
  label: string;
}

/** Returns the agent's sections, each with what needs attention there. */
function useSections(): SectionState[] {
  const workspace = useWorkspace();
  const waiting = workspace.chats.waiting.value.length;
  const unread = workspace.chats.unreadMine.value.length;
  const failed = useFailureText(workspace.api, workspace.isAdmin);
  return visibleSections(workspace.isAdmin).map((section) => {
    const { name, title } = section;
    if (name === "inbox") {
      const parts = [waiting > 0 ? t`${waiting} waiting` : "", unread > 0 ? t`${unread} of yours unread` : ""];
      return { section, count: waiting, unread, hasDot: false, label: [title, ...parts].filter(Boolean).join(", ") };
    }
    if (name === "deliveries" && failed !== undefined)
      return { section, count: 0, unread: 0, hasDot: true, label: `${title}, ${failed}` };
    return { section, count: 0, unread: 0, hasDot: false, label: title };
  });
}

const firstPage = ({ name }: Section) => hrefOf({ section: name, id: undefined });
const currentPage = ({ name }: Section) => (route.value.section === name ? "page" : undefined);

const shortCount = (count: number) => (count > 99 ? "99+" : count);

function NavigationLink({ section, count, unread, hasDot, label }: SectionState) {
  const { title, shortTitle = title, icon, isInSmallRail } = section;
  return (
    <a
      class={isInSmallRail ? undefined : "other"}
      href={firstPage(section)}
      aria-label={label}
      aria-current={currentPage(section)}
    >
      <Icon name={icon} class="large" />
      <span class="caption" aria-hidden="true">
        {shortTitle}
      </span>{" "}
      {count > 0 && <b class="badge" aria-hidden="true" data-count={shortCount(count)} />}
      {unread > 0 && <b class="badge unread" aria-hidden="true" data-count={shortCount(unread)} />}
      {hasDot && <i class="dot" />}
      <span class="tip" aria-hidden="true">
        {label}
      </span>
    </a>
  );
}

export function NavigationRail() {
  const sections = useSections();
  const others = sections.filter(({ section }) => !section.isInSmallRail);
  return (
    <nav class="rail" aria-label={t`Sections`}>
      <span class="logo" aria-hidden="true">
        <img src={logo} alt="" />
      </span>
      {sections.map((state) => (
        <NavigationLink key={state.section.name} {...state} />
      ))}
      {others.length > 0 && <MoreSections sections={others} />}
      <span class="grow" />
      <ProfileButton />
    </nav>
  );
}

/** The button of a small window that lists the sections for which the rail has no room. */
function MoreSections({ sections }: { sections: SectionState[] }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const marked = sections.filter(({ count, hasDot }) => count > 0 || hasDot);
  return (
    <>
      <button
        ref={button}
        type="button"
        class="more-button"
        aria-label={[t`More`, ...marked.map(({ label }) => label)].join(", ")}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-current={sections.some(({ section }) => currentPage(section)) ? "true" : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="ellipsis" class="large" />
        <span class="caption" aria-hidden="true">
          {t`More`}
        </span>
        {marked.length > 0 && <i class="dot" />}
      </button>
      {isOpen && (
        <Popover anchor={button} side="above" role="menu" class="more-menu" label={t`More`} onClose={close}>
          {sections.map(({ section, hasDot, label }) => (
            <a
              key={section.name}
              class="menu-item"
              role="menuitem"
              href={firstPage(section)}
              aria-label={label}
              aria-current={currentPage(section)}
              onClick={close}
            >
              <Icon name={section.icon} />
              {section.title}
              {hasDot && <i class="dot" />}
            </a>
          ))}
        </Popover>
      )}
    </>
  );
}
