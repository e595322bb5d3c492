import type { ComponentChildren } from "preact";
import { useWorkspace } from "../workspace-context";
import type { AccountSettings } from "../../api/types";
import { PageHeader } from "../admin/detail-header";
import { LoadedDetail } from "../admin/detail-page";
import { useLoaded } from "../admin/use-loaded";
import { t } from "../../texts/translate";

interface SettingsPageProps {
  tabs: ComponentChildren;
  children: (settings: AccountSettings, onStored: (settings: AccountSettings) => void) => ComponentChildren;
}

/** Loads the settings of the account for a page. */
export function SettingsPage({ tabs, children }: SettingsPageProps) {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/settings"));
  return (
    <LoadedDetail loaded={loaded} what={t`The settings`} header={<PageHeader title={t`Settings`} tabs={tabs} />}>
      {(settings) => children(settings, loaded.setValue)}
    </LoadedDetail>
  );
}
