import { useLoaded } from "../admin/use-loaded";
import { useWorkspace } from "../workspace-context";

/** Returns the names of the bots' providers by their ids. Undefined until they are loaded. */
export function useProviderNames(): ReadonlyMap<string, string> | undefined {
  const { api } = useWorkspace();
  const { value } = useLoaded(async () => {
    const { providers } = await api.get("/admin/providers");
    return new Map(providers.map(({ provider_id, name }) => [provider_id, name]));
  });
  return value;
}
