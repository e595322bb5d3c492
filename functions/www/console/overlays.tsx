import { CannedRepliesDialog } from "./conversation/canned-replies-dialog";
import { FileDialog } from "./conversation/file-dialog";
import { ChannelDialog } from "./channels/add-channel-dialog";
import { CloseDialog, EraseDialog, ShortcutsDialog, SignOutDialog } from "./dialogs";
import { CommandPalette } from "./command-palette/command-palette";
import { closeOverlay, overlay } from "./state/view-state";
import { TransferDialog } from "./transfer/transfer-dialog";

export function OverlayLayer() {
  const current = overlay.value;
  switch (current?.kind) {
    case undefined:
      return null;
    case "palette":
      return <CommandPalette />;
    case "shortcuts":
      return <ShortcutsDialog />;
    case "canned":
      return <CannedRepliesDialog />;
    case "channel":
      return <ChannelDialog onClose={closeOverlay} />;
    case "sign-out":
      return <SignOutDialog />;
    case "transfer":
      return <TransferDialog chatId={current.chatId} />;
    case "close":
      return <CloseDialog chatId={current.chatId} />;
    case "file":
      return <FileDialog chatId={current.chatId} />;
    case "erase":
      return <EraseDialog number={current.number} name={current.name} chatId={current.chatId} />;
  }
}
