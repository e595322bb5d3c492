/* What components get: the state, and the actions that they call. */

import type { FormValues } from "../visitor/contact-rules";
import type { ButtonId } from "../service/types";
import type { Rate, State } from "../state";

export interface Actions {
  open: () => void;
  close: () => void;
  dismissInvitation: () => void;
  dismissPreview: () => void;
  /** `buttonId` is the id of the bot's button that the visitor has pressed, if it has one. */
  send: (text: string, buttonId?: ButtonId) => void;
  /** Asks the bot to stop the answer that it is writing. */
  stopAnswer: () => void;
  sendFiles: (files: readonly File[]) => void;
  cancelUpload: (id: number) => void;
  retryUpload: (id: number) => void;
  retry: (messageId: string) => void;
  typed: (text: string) => void;
  readDraft: () => string;
  submitContacts: (values: FormValues) => void;
  skipContacts: () => void;
  submitOffline: (values: FormValues) => void;
  writeAnother: () => void;
  loadEarlier: () => void;
  rate: (rate: Rate) => void;
  /** Shows a link or initials in place of media that cannot be loaded. */
  mediaFailed: (address: string) => void;
}

export interface Props {
  state: State;
  actions: Actions;
}
