import "./navigation-rail.css";
import { useRef, useState } from "preact/hooks";
import { Avatar } from "../ui/avatar";
import { Icon, type IconName } from "../ui/icons";
import { Popover } from "../ui/popover";
import { theme, type Theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { useWorkspace } from "./workspace-context";
import logo from "./icon.svg";
import {
  requestNotificationPermission,
  areNotificationsSupported,
  areNotificationsAllowed,
  playSound,
} from "./state/alerts";
import { areDesktopNotificationsEnabled, isSoundEnabled } from "./state/preferences";
import { hrefOf, route, type Section } from "./state/route";
import { session } from "./state/session";
import { overlay } from "./state/view-state";
import type { PresenceStatus } from "../api/types";

export const SECTION_LABELS: Record<Section, { name: string; icon: IconName }> = {
  inbox: { name: "Inbox", icon: "inbox" },
  visitors: { name: "Visitors", icon: "users" },
};

function NavigationLink({ section, count = 0, label }: { section: Section; count?: number; label?: string }) {
  const { name, icon } = SECTION_LABELS[section];
  return (
    <a
      href={hrefOf({ section, id: undefined })}
      aria-label={label ?? name}
      aria-current={route.value.section === section ? "page" : undefined}
    >
      <Icon name={icon} class="large" />
      {count > 0 && (
        <b class="badge" aria-hidden="true">
          {count > 99 ? "99+" : count}
        </b>
      )}
      <span class="tip" aria-hidden="true">
        {name}
      </span>
    </a>
  );
}

export function NavigationRail() {
  const workspace = useWorkspace();
  const waiting = workspace.chats.waiting.value.length;
  return (
    <nav class="rail" aria-label="Sections">
      <span class="logo" aria-hidden="true">
        <img src={logo} alt="" />
      </span>
      <NavigationLink section="inbox" count={waiting} label={waiting > 0 ? `Inbox, ${waiting} waiting` : "Inbox"} />
      <NavigationLink section="visitors" />
      <span class="grow" />
      <ProfileButton />
    </nav>
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
  const status = workspace.presence.value;
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
  const status = workspace.presence.value;
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
          <small class="clip">
            {[profile.email, profile.accountName].filter(Boolean).join(" · ") ||
              (workspace.isAdmin ? "Admin" : "Agent")}
          </small>
        </span>
      </div>
      <div class="segments" role="group" aria-label="Presence">
        {PRESENCE_OPTIONS.map(({ status: value, label }) => (
          <button
            key={value}
            type="button"
            role="menuitemradio"
            aria-checked={status === value}
            onClick={() => void workspace.setPresence(value)}
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
