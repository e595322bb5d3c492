import { useRef, useState } from "preact/hooks";
import type { Chat } from "../../api/types";
import { copyText } from "../../ui/copy-button";
import { Icon } from "../../ui/icons";
import { MenuItem } from "../../ui/menu-item";
import { Popover } from "../../ui/popover";
import { toast } from "../../ui/toast";
import { setBlacklisted } from "../chat-actions";
import { erasureRoute } from "../state/page/page-routes";
import { chatHref, navigate } from "../state/page/route";
import { focusComposer, overlay, type Overlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

interface ChatMenuProps {
  chatId: number;
  /** Undefined until it is loaded. */
  detail: Chat | undefined;
  canCall: boolean;
  canTransfer: boolean;
  isMine: boolean;
}

/** The button in the header of a conversation that lists what else the agent can do with the chat. */
export function ChatMenu(props: ChatMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => setOpen(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        class="btn only-icon"
        aria-label={t`More`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="ellipsis" class="large" />
      </button>
      {isOpen && (
        <Popover anchor={button} align="end" role="menu" label={t`More`} onClose={close}>
          <Items {...props} close={close} />
        </Popover>
      )}
    </>
  );
}

function Items({ chatId, detail, canCall, canTransfer, isMine, close }: ChatMenuProps & { close: () => void }) {
  const workspace = useWorkspace();
  const closing = (action: () => void) => () => {
    close();
    action();
  };
  const opening = (opened: Overlay) => closing(() => (overlay.value = opened));
  const copyLink = async () => {
    if (await copyText(new URL(chatHref(chatId), location.href).href)) toast(t`Link to this chat copied.`);
  };
  return (
    <>
      <MenuItem icon="sticky-note" onClick={closing(() => focusComposer(chatId, "note"))}>
        {t`Add a private note`} <kbd>N</kbd>
      </MenuItem>
      {canCall && (
        <MenuItem icon="phone" onClick={opening({ kind: "call", chatId })}>
          {t`Call the visitor…`} <kbd>C</kbd>
        </MenuItem>
      )}
      {canTransfer && (
        <MenuItem icon="arrow-right-left" onClick={opening({ kind: "transfer", chatId })}>
          {t`Transfer…`} <kbd>T</kbd>
        </MenuItem>
      )}
      <MenuItem icon="tag" onClick={opening({ kind: "tags", chatId })}>
        {t`Tags…`} <kbd>L</kbd>
      </MenuItem>
      {isMine && (
        <MenuItem icon="clock" onClick={opening({ kind: "snooze", chatId })}>
          {t`Snooze…`} <kbd>S</kbd>
        </MenuItem>
      )}
      <MenuItem icon="link" onClick={closing(() => void copyLink())}>
        {t`Copy a link to this chat`}
      </MenuItem>
      {detail !== undefined && (
        <MenuItem
          icon="ban"
          onClick={closing(
            () => void setBlacklisted(workspace, chatId, detail.visitor.number, !detail.visitor.blacklisted),
          )}
        >
          {detail.visitor.blacklisted ? t`Remove from the blacklist` : t`Blacklist the visitor`}
        </MenuItem>
      )}
      {workspace.isAdmin && detail !== undefined && (
        <>
          <MenuItem icon="download" onClick={opening({ kind: "export", chatId })}>
            {t`Export the chat…`}
          </MenuItem>
          <div class="menu-line" />
          <MenuItem icon="trash-2" isBad onClick={closing(() => navigate(erasureRoute(detail.visitor.number)))}>
            {t`Erase the visitor…`}
          </MenuItem>
        </>
      )}
    </>
  );
}
