import type { ComponentChildren } from "preact";
import { useWorkspace } from "../workspace-context";
import type { AccountSettings } from "../../api/types";
import { FormButtons } from "../admin/detail-header";
import { LoadedPage } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";

interface SettingsHeaderProps {
  tabs: ComponentChildren;
  form?: { hasChanges: boolean; isBusy: boolean; onDiscard: () => void };
}

/** The top of a page of settings. */
export function SettingsHeader({ tabs, form }: SettingsHeaderProps) {
  return (
    <header class="detail-header settings-header">
      <h2>Settings</h2>
      {tabs}
      <span class="grow" />
      {form !== undefined && <FormButtons {...form} />}
    </header>
  );
}

interface SettingsPageProps {
  tabs: ComponentChildren;
  children: (settings: AccountSettings, onStored: (settings: AccountSettings) => void) => ComponentChildren;
}

/** Loads the settings of the account for a page. */
export function SettingsPage({ tabs, children }: SettingsPageProps) {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/settings"));
  if (loaded.value !== undefined) return <>{children(loaded.value, loaded.setValue)}</>;
  return (
    <div class="detail-page">
      <SettingsHeader tabs={tabs} />
      <div class="scroll">
        <LoadedPage loaded={loaded} what="The settings">
          {() => null}
        </LoadedPage>
      </div>
    </div>
  );
}
