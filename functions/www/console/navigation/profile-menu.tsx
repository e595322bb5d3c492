/* The agent's own menu: presence, sound, notifications, theme and session. */

import { useRef, useState } from "preact/hooks";
import type { PresenceStatus } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Icon, type IconName } from "../../ui/icons";
import { MenuItem } from "../../ui/menu-item";
import { Popover } from "../../ui/popover";
import { theme, type Theme } from "../../ui/theme";
import { toast } from "../../ui/toast";
import {
  areNotificationsAllowed,
  areNotificationsSupported,
  isWebPushSupported,
  playSound,
  requestNotificationPermission,
} from "../state/alerts/alerts";
import { areDesktopNotificationsEnabled, isSoundEnabled, isWebPushEnabled } from "../state/agent/preferences";
import { errorText } from "../state/page/error-text";
import { api, session } from "../state/agent/session";
import { overlay, type Overlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

const PRESENCE_OPTIONS: { status: PresenceStatus; label: string }[] = [
  { status: "online", label: t`Online` },
  { status: "away", label: t`Away` },
];

const BLOCKED_NOTIFICATIONS = t`The browser blocks notifications of this page. You can change this in its site settings.`;

const THEME_OPTIONS: { value: Theme; label: string; icon: IconName }[] = [
  { value: "system", label: t`System`, icon: "monitor" },
  { value: "light", label: t`Light`, icon: "sun" },
  { value: "dark", label: t`Dark`, icon: "moon" },
];

export function ProfileButton() {
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
        <Popover anchor={button} side="above" role="menu" class="me-menu" label={t`You`} onClose={() => setOpen(false)}>
          <ProfileMenu close={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

function ProfileMenu({ close }: { close: () => void }) {
  const openOverlay = (opened: Overlay) => () => {
    close();
    overlay.value = opened;
  };
  return (
    <>
      <Profile />
      <PresenceChoice />
      <div class="menu-line" />
      <SoundItem />
      {areNotificationsSupported() && <NotificationsItem />}
      {isWebPushSupported() && <WebPushItem />}
      <ThemeChoice />
      <div class="menu-line" />
      <MenuItem icon="lock" onClick={openOverlay({ kind: "own-account" })}>
        {t`Password and sessions`}
      </MenuItem>
      <MenuItem icon="keyboard" onClick={openOverlay({ kind: "shortcuts" })}>
        {t`Keyboard shortcuts`} <kbd>?</kbd>
      </MenuItem>
      <MenuItem icon="log-out" onClick={openOverlay({ kind: "sign-out" })}>
        {t`Sign out`}
      </MenuItem>
    </>
  );
}

function Profile() {
  const { me, isAdmin } = useWorkspace();
  const { id, name, photo, email, accountName } = session.value ?? me;
  return (
    <div class="who" role="presentation">
      <Avatar id={id} name={name} photo={photo} />
      <span class="clip">
        <b class="clip">{name}</b>
        <small class="clip">{email || (isAdmin ? t`Admin` : t`Agent`)}</small>
        {accountName && <small class="clip">{accountName}</small>}
      </span>
    </div>
  );
}

function PresenceChoice() {
  const { presence } = useWorkspace();
  return (
    <div class="segments" role="group" aria-label={t`Presence`}>
      {PRESENCE_OPTIONS.map(({ status, label }) => (
        <button
          key={status}
          type="button"
          role="menuitemradio"
          aria-checked={presence.status.value === status}
          onClick={() => void presence.set(status)}
        >
          <span class={`presence ${status}`} />
          {label}
        </button>
      ))}
    </div>
  );
}

function SoundItem() {
  const toggle = () => {
    isSoundEnabled.value = !isSoundEnabled.value;
    playSound();
  };
  return (
    <MenuItem icon={isSoundEnabled.value ? "volume-2" : "volume-x"} isChecked={isSoundEnabled.value} onClick={toggle}>
      {t`Sound`}
    </MenuItem>
  );
}

function NotificationsItem() {
  const toggle = async () => {
    if (areDesktopNotificationsEnabled.value && areNotificationsAllowed()) {
      areDesktopNotificationsEnabled.value = false;
    } else if (!(await requestNotificationPermission())) {
      toast(BLOCKED_NOTIFICATIONS, { isBad: true });
    }
  };
  return (
    <MenuItem
      icon={areDesktopNotificationsEnabled.value ? "bell" : "bell-off"}
      isChecked={areDesktopNotificationsEnabled.value && areNotificationsAllowed()}
      onClick={() => void toggle()}
    >
      {t`Desktop notifications`}
    </MenuItem>
  );
}

function WebPushItem() {
  const toggle = async () => {
    try {
      const { disableWebPush, enableWebPush } = await import("../state/alerts/web-push");
      if (isWebPushEnabled.value) await disableWebPush(api);
      else if (await enableWebPush(api))
        toast(t`You will be notified while the console is closed, until you sign out.`);
      else toast(BLOCKED_NOTIFICATIONS, { isBad: true });
    } catch (error) {
      toast(t`The notifications were not changed. ${errorText(error)}`, { isBad: true });
    }
  };
  return (
    <MenuItem
      icon={isWebPushEnabled.value ? "bell" : "bell-off"}
      isChecked={isWebPushEnabled.value && areNotificationsAllowed()}
      onClick={() => void toggle()}
    >
      {t`Notify me when closed`}
    </MenuItem>
  );
}

const ThemeChoice = () => (
  <>
    <div class="menu-label" aria-hidden="true">
      {t`Theme`}
    </div>
    <div class="segments" role="group" aria-label={t`Theme`}>
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
  </>
);
