import type { CreatedChannel } from "./state/list/view-state";
import { CloseDialog, LeaveDialog, ShortcutsDialog, SignOutDialog } from "./dialogs";
import { CommandPalette } from "./command-palette/command-palette";
import { closeOverlay, overlay } from "./state/list/view-state";
import { lazyComponent } from "../ui/lazy-component";
import { TransferDialog } from "./transfer/transfer-dialog";

/** Loaded when it is first opened, because only admins add channels. */
const ChannelDialog = lazyComponent<{
  onClose: () => void;
  onCreated: ((channel: CreatedChannel) => void) | undefined;
}>(() => import("./channels/add-channel-dialog").then(({ ChannelDialog }) => ChannelDialog));

/** Loaded when it is first opened, because only admins export chats. */
const ExportDialog = lazyComponent<{ chatId: number; onClose: () => void }>(() =>
  import("./reports/export-dialog").then(({ ExportDialog }) => ExportDialog),
);

/** Loaded when they are first opened, so that the first page does not wait for them. */
const CannedRepliesDialog = lazyComponent(() =>
  import("./conversation/canned-replies-dialog").then(({ CannedRepliesDialog }) => CannedRepliesDialog),
);
const CallDialog = lazyComponent<{ chatId: number }>(() =>
  import("./calls/call-dialog").then(({ CallDialog }) => CallDialog),
);
const FileDialog = lazyComponent<{ chatId: number }>(() =>
  import("./conversation/file-dialog").then(({ FileDialog }) => FileDialog),
);
const TagDialog = lazyComponent<{ chatId: number }>(() =>
  import("./organizing/tag-dialog").then(({ TagDialog }) => TagDialog),
);
const SnoozeDialog = lazyComponent<{ chatId: number }>(() =>
  import("./organizing/snooze-dialog").then(({ SnoozeDialog }) => SnoozeDialog),
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
    case "tags":
      return <TagDialog chatId={current.chatId} />;
    case "snooze":
      return <SnoozeDialog chatId={current.chatId} />;
    case "call":
      return <CallDialog key={current.chatId} chatId={current.chatId} />;
    case "file":
      return <FileDialog chatId={current.chatId} />;
    case "export":
      return <ExportDialog chatId={current.chatId} onClose={closeOverlay} />;
  }
}
