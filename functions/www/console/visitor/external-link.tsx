import type { ComponentChildren } from "preact";
import { Icon } from "../../ui/icons";

export function ExternalLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="link" href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <Icon name="external-link" />
    </a>
  );
}

export const isWebUrl = (address: string | null | undefined): address is string =>
  typeof address === "string" && /^https?:\/\//i.test(address);
