import "./command-palette/command-palette.css";
import "./dialogs.css";
import type { CreatedChannel } from "./state/list/view-state";
import type { BulkKind } from "./organizing/bulk-dialogs";
import { closeOverlay, overlay } from "./state/list/view-state";
import { leaveRequest } from "./state/page/leave-guard";
import { lazyComponent } from "../ui/lazy-component";

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
const CommandPalette = lazyComponent(() =>
  import("./command-palette/command-palette").then(({ CommandPalette }) => CommandPalette),
);
const CallDialog = lazyComponent<{ chatId: number }>(() =>
  import("./calls/call-dialog").then(({ CallDialog }) => CallDialog),
);
const DeleteMessageDialog = lazyComponent<{ chatId: number; seq: number }>(() =>
  import("./conversation/delete-message-dialog").then(({ DeleteMessageDialog }) => DeleteMessageDialog),
);
const FileDialog = lazyComponent<{ chatId: number }>(() =>
  import("./conversation/file-dialog").then(({ FileDialog }) => FileDialog),
);
const TagDialog = lazyComponent<{ chatId: number }>(() =>
  import("./organizing/tag-dialog").then(({ TagDialog }) => TagDialog),
);
const ShortcutsDialog = lazyComponent(() =>
  import("./shortcuts-dialog").then(({ ShortcutsDialog }) => ShortcutsDialog),
);
const SignOutDialog = lazyComponent(() => import("./sign-out-dialog").then(({ SignOutDialog }) => SignOutDialog));
const TransferDialog = lazyComponent<{ chatIds: readonly number[] }>(() =>
  import("./transfer/transfer-dialog").then(({ TransferDialog }) => TransferDialog),
);
const BulkDialog = lazyComponent<{ kind: BulkKind }>(() =>
  import("./organizing/bulk-dialogs").then(({ BulkDialog }) => BulkDialog),
);
const SendLaterDialog = lazyComponent<{ chatId: number }>(() =>
  import("./conversation/send-later-dialog").then(({ SendLaterDialog }) => SendLaterDialog),
);
const SnoozeDialog = lazyComponent<{ chatId: number }>(() =>
  import("./organizing/snooze-dialog").then(({ SnoozeDialog }) => SnoozeDialog),
);

const CloseDialog = lazyComponent<{ chatId: number }>(() => import("./dialogs").then(({ CloseDialog }) => CloseDialog));
const LeaveDialog = lazyComponent(() => import("./dialogs").then(({ LeaveDialog }) => LeaveDialog));

/** Loads the dialogs into which agents type without looking, so that no key is lost when one is first opened, and those
 * that keep work from being lost, so that they open without a network. */
export function preloadDialogs(): void {
  for (const dialog of [CommandPalette, TransferDialog, TagDialog, CloseDialog, LeaveDialog])
    dialog.preload().catch(() => {});
}

/** Loaded when it is first opened, because agents seldom do. */
const OwnAccountDialog = lazyComponent<{ onClose: () => void }>(() =>
  import("./session/own-account-dialog").then(({ OwnAccountDialog }) => OwnAccountDialog),
);

export const OverlayLayer = () => (
  <>
    <CurrentOverlay />
    {leaveRequest.value !== undefined && <LeaveDialog />}
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
      return <TransferDialog chatIds={[current.chatId]} />;
    case "bulk-transfer":
    case "bulk-tags":
    case "bulk-close":
      return <BulkDialog kind={current.kind} />;
    case "close":
      return <CloseDialog chatId={current.chatId} />;
    case "delete-message":
      return <DeleteMessageDialog chatId={current.chatId} seq={current.seq} />;
    case "tags":
      return <TagDialog chatId={current.chatId} />;
    case "snooze":
      return <SnoozeDialog chatId={current.chatId} />;
    case "send-later":
      return <SendLaterDialog chatId={current.chatId} />;
    case "call":
      return <CallDialog key={current.chatId} chatId={current.chatId} />;
    case "file":
      return <FileDialog chatId={current.chatId} />;
    case "export":
      return <ExportDialog chatId={current.chatId} onClose={closeOverlay} />;
  }
}
