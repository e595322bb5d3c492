import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Workspace } from "./state/workspace";

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === undefined) throw new Error("useWorkspace needs a signed-in agent");
  return workspace;
}
