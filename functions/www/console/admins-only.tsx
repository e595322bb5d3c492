import type { ComponentChildren } from "preact";
import { Icon } from "../ui/icons";
import { useWorkspace } from "./workspace-context";

interface AdminsOnlyProps {
  /** What other agents read in place of the page, such as "Only admins manage bots". Undefined to show it to all. */
  text: string | undefined;
  children: ComponentChildren;
}

/** Shows a page to admins only. */
export function AdminsOnly({ text, children }: AdminsOnlyProps) {
  const { isAdmin } = useWorkspace();
  if (isAdmin || text === undefined) return <>{children}</>;
  return (
    <div class="blank">
      <Icon name="lock" />
      <h2>{text}</h2>
    </div>
  );
}
