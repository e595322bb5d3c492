import { route } from "../state/page/route";
import { ChannelPage } from "./channel-page";
import { ChannelsPage } from "./channels-page";

export function Channels() {
  const { path } = route.value;
  return path === undefined ? <ChannelsPage /> : <ChannelPage key={path} channelId={path} />;
}
