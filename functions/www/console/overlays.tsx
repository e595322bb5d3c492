import { CannedRepliesDialog } from "./conversation/canned-replies-dialog";
import { FileDialog } from "./conversation/file-dialog";
import { ChannelDialog } from "./channels/add-channel-dialog";
import { CallDialog } from "./calls/call-dialog";
import { CloseDialog, LeaveDialog, ShortcutsDialog, SignOutDialog } from "./dialogs";
import { CommandPalette } from "./command-palette/command-palette";
import { closeOverlay, overlay } from "./state/list/view-state";
import { lazyComponent } from "../ui/lazy-component";
import { TransferDialog } from "./transfer/transfer-dialog";

/** Loaded when it is first opened, because only admins export chats. */
const ExportDialog = lazyComponent<{ chatId: number; onClose: () => void }>(() =>
  import("./reports/export-dialog").then(({ ExportDialog }) => ExportDialog),
);

/** Loaded when it is first opened, because agents seldom do. */
const OwnAccountDialog = lazyComponent<{ onClose: () => void }>(() =>
  import("./session/own-account-dialog").then(({ OwnAccountDialog }) => OwnAccountDialog),
);

export const OverlayLayer = () => (
  <>
    <CurrentOverlay />
    <LeaveDialog />
  </>
);

function CurrentOverlay() {
  const current = overlay.value;
  switch (current?.kind) {
    case undefined:
      return null;
    case "palette":
      return <CommandPalette />;
    case "shortcuts":
      return <ShortcutsDialog />;
    case "own-account":
      return <OwnAccountDialog onClose={closeOverlay} />;
    case "canned":
      return <CannedRepliesDialog />;
    case "channel":
      return <ChannelDialog onClose={closeOverlay} onCreated={current.onCreated} />;
    case "sign-out":
      return <SignOutDialog />;
    case "transfer":
      return <TransferDialog chatId={current.chatId} />;
    case "close":
      return <CloseDialog chatId={current.chatId} />;
    case "call":
      return <CallDialog key={current.chatId} chatId={current.chatId} />;
    case "file":
      return <FileDialog chatId={current.chatId} />;
    case "export":
      return <ExportDialog chatId={current.chatId} onClose={closeOverlay} />;
  }
}
