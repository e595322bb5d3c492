import { CannedDialog } from "./conversation/canned-dialog";
import { FileDialog } from "./conversation/file-dialog";
import { ChannelDialog } from "./channels/channel-dialog";
import { CloseDialog, EraseDialog, KeysDialog, SignOutDialog } from "./dialogs";
import { Palette } from "./palette/palette";
import { closeFloating, floating } from "./state/view";
import { TransferDialog } from "./transfer/transfer";

export function FloatingLayer() {
  const current = floating.value;
  switch (current?.kind) {
    case undefined:
      return null;
    case "palette":
      return <Palette />;
    case "keys":
      return <KeysDialog />;
    case "canned":
      return <CannedDialog />;
    case "channel":
      return <ChannelDialog onClose={closeFloating} />;
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
