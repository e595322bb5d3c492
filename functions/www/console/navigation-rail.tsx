import "./navigation-rail.css";
import { useRef, useState } from "preact/hooks";
import { Avatar } from "../ui/avatar";
import { Icon, type IconName } from "../ui/icons";
import { Popover } from "../ui/popover";
import { theme, type Theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { useWorkspace } from "./workspace-context";
import type { Section } from "./section";
import { visibleSections } from "./sections";
import logo from "./icon.svg";
import {
  requestNotificationPermission,
  areNotificationsSupported,
  areNotificationsAllowed,
  playSound,
} from "./state/alerts";
import { areDesktopNotificationsEnabled, isSoundEnabled } from "./state/preferences";
import { cappedText, useFailedDeliveries } from "./state/failed-deliveries";
import { hrefOf, route } from "./state/route";
import { session } from "./state/session";
import { overlay } from "./state/view-state";
import type { PresenceStatus } from "../api/types";

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
  const failed = useFailedDeliveries(workspace.api, workspace.isAdmin);
  return visibleSections(workspace.isAdmin).map((section) => {
    const { name, title } = section;
    if (name === "inbox") {
      const parts = [waiting > 0 ? `${waiting} waiting` : "", unread > 0 ? `${unread} of yours unread` : ""];
      return { section, count: waiting, unread, hasDot: false, label: [title, ...parts].filter(Boolean).join(", ") };
    }
    if (name === "deliveries" && failed !== undefined && failed.count > 0)
      return {
        section,
        count: 0,
        unread: 0,
        hasDot: true,
        label: `${title}, ${cappedText(failed)} failed in 24 hours`,
      };
    return { section, count: 0, unread: 0, hasDot: false, label: title };
  });
}

const firstPage = ({ name }: Section) => hrefOf({ section: name, id: undefined });
const currentPage = ({ name }: Section) => (route.value.section === name ? "page" : undefined);

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
      {count > 0 && (
        <b class="badge" aria-hidden="true">
          {count > 99 ? "99+" : count}
        </b>
      )}
      {unread > 0 && <b class="badge unread" aria-hidden="true" data-count={unread > 99 ? "99+" : unread} />}
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
    <nav class="rail" aria-label="Sections">
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
        aria-label={["More", ...marked.map(({ label }) => label)].join(", ")}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-current={sections.some(({ section }) => currentPage(section)) ? "true" : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="ellipsis" class="large" />
        <span class="caption" aria-hidden="true">
          More
        </span>
        {marked.length > 0 && <i class="dot" />}
      </button>
      {isOpen && (
        <Popover anchor={button} side="above" role="menu" class="more-menu" label="More" onClose={close}>
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

const PRESENCE_OPTIONS: { status: PresenceStatus; label: string }[] = [
  { status: "online", label: "Online" },
  { status: "away", label: "Away" },
];

const THEME_OPTIONS: { value: Theme; label: string; icon: IconName }[] = [
  { value: "system", label: "System", icon: "monitor" },
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
];

function ProfileButton() {
  const workspace = useWorkspace();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const profile = session.value ?? workspace.me;
  const status = workspace.presence.status.value;
  const statusLabel = status === undefined ? "" : `, ${status}`;
  return (
    <>
      <button
        ref={button}
        type="button"
        class="me"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Avatar id={profile.id} name={profile.name} photo={profile.photo} />
        <span class="sr">
          {profile.name}
          {statusLabel}
        </span>
        {status !== undefined && <span class={`presence ${status}`} />}
      </button>
      {isOpen && (
        <Popover anchor={button} side="above" role="menu" class="me-menu" label="You" onClose={() => setOpen(false)}>
          <ProfileMenu close={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

function ProfileMenu({ close }: { close: () => void }) {
  const workspace = useWorkspace();
  const profile = session.value ?? workspace.me;
  const status = workspace.presence.status.value;
  const toggleDesktopNotifications = async () => {
    if (areDesktopNotificationsEnabled.value && areNotificationsAllowed()) {
      areDesktopNotificationsEnabled.value = false;
    } else if (!(await requestNotificationPermission())) {
      toast("The browser blocks notifications of this page. You can change this in its site settings.", {
        isBad: true,
      });
    }
  };
  return (
    <>
      <div class="who" role="presentation">
        <Avatar id={profile.id} name={profile.name} photo={profile.photo} />
        <span class="clip">
          <b class="clip">{profile.name}</b>
          <small class="clip">{profile.email || (workspace.isAdmin ? "Admin" : "Agent")}</small>
          {profile.accountName && <small class="clip">{profile.accountName}</small>}
        </span>
      </div>
      <div class="segments" role="group" aria-label="Presence">
        {PRESENCE_OPTIONS.map(({ status: value, label }) => (
          <button
            key={value}
            type="button"
            role="menuitemradio"
            aria-checked={status === value}
            onClick={() => void workspace.presence.set(value)}
          >
            <span class={`presence ${value}`} />
            {label}
          </button>
        ))}
      </div>
      <div class="menu-line" />
      <button
        type="button"
        class="menu-item"
        role="menuitemcheckbox"
        aria-checked={isSoundEnabled.value}
        onClick={() => {
          isSoundEnabled.value = !isSoundEnabled.value;
          playSound();
        }}
      >
        <Icon name={isSoundEnabled.value ? "volume-2" : "volume-x"} />
        Sound
        <Icon name="check" class="check" />
      </button>
      {areNotificationsSupported() && (
        <button
          type="button"
          class="menu-item"
          role="menuitemcheckbox"
          aria-checked={areDesktopNotificationsEnabled.value && areNotificationsAllowed()}
          onClick={() => void toggleDesktopNotifications()}
        >
          <Icon name={areDesktopNotificationsEnabled.value ? "bell" : "bell-off"} />
          Desktop notifications
          <Icon name="check" class="check" />
        </button>
      )}
      <div class="menu-label" aria-hidden="true">
        Theme
      </div>
      <div class="segments" role="group" aria-label="Theme">
        {THEME_OPTIONS.map(({ value, label, icon }) => (
          <button
            key={value}
            type="button"
            role="menuitemradio"
            aria-checked={theme.value === value}
            onClick={() => (theme.value = value)}
          >
            <Icon name={icon} class="small" />
            {label}
          </button>
        ))}
      </div>
      <div class="menu-line" />
      <button
        type="button"
        class="menu-item"
        role="menuitem"
        onClick={() => {
          close();
          overlay.value = { kind: "own-account" };
        }}
      >
        <Icon name="lock" />
        Password and sessions
      </button>
      <button
        type="button"
        class="menu-item"
        role="menuitem"
        onClick={() => {
          close();
          overlay.value = { kind: "shortcuts" };
        }}
      >
        <Icon name="keyboard" />
        Keyboard shortcuts <kbd>?</kbd>
      </button>
      <button
        type="button"
        class="menu-item"
        role="menuitem"
        onClick={() => {
          close();
          overlay.value = { kind: "sign-out" };
        }}
      >
        <Icon name="log-out" />
        Sign out
      </button>
    </>
  );
}
