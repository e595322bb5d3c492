import type { WidgetChannel } from "../../api/types";
import type { Workspace } from "../state/workspace";
import type { WidgetDraft } from "./widget-draft";

/** A draft that is kept while another page is open, with the channel as it was when the draft was started. */
export interface KeptDraft {
  channel: WidgetChannel;
  draft: WidgetDraft;
}

const keptDrafts = new WeakMap<Workspace, Map<string, KeptDraft>>();

/** Returns what the admin has typed on the pages of widgets but not saved, by channel. */
export function keptDraftsOf(workspace: Workspace): Map<string, KeptDraft> {
  const drafts = keptDrafts.get(workspace) ?? new Map<string, KeptDraft>();
  keptDrafts.set(workspace, drafts);
  return drafts;
}
