import { useState } from "preact/hooks";
import { announce } from "./announcer";
import { Icon } from "./icons";
import { toast } from "./toast";
import { t } from "../texts/translate";

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce(t`Copied`);
    return true;
  } catch {
    toast(t`The browser does not allow copying here.`, { isBad: true });
    return false;
  }
}

export function CopyButton({ text, label, caption }: { text: string; label: string; caption?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button
      type="button"
      class={caption === undefined ? "btn only-icon copy" : "btn line copy"}
      aria-label={label}
      title={label}
      onClick={copy}
    >
      <Icon name={isCopied ? "check" : "copy"} />
      {caption !== undefined && (isCopied ? t`Copied` : caption)}
    </button>
  );
}
