/* The page of one channel: reads the channel, and shows the form of its kind. */

import { DetailPage } from "../admin/detail-page";
import { useLoaded } from "../admin/use-loaded";
import { CHANNELS_ROUTE } from "../state/page/page-routes";
import { useWorkspace } from "../workspace-context";
import { ApiChannelPage } from "./api-channel-page";
import { WidgetPage } from "./widget-page";
import { t } from "../../texts/translate";

export function ChannelPage({ channelId }: { channelId: string }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/channels/{channel_id}", { path: { channel_id: channelId } }));
  return (
    <DetailPage loaded={loaded} what={t`The channel`} list={{ name: t`All channels`, route: CHANNELS_ROUTE }}>
      {(channel) =>
        channel.kind === "widget" ? (
          <WidgetPage channel={channel} onStored={(stored) => loaded.setValue({ ...channel, ...stored })} />
        ) : (
          <ApiChannelPage channel={channel} onStored={loaded.setValue} />
        )
      }
    </DetailPage>
  );
}
