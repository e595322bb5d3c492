import { route } from "../state/page/route";
import { BotPage } from "./bot-page";
import { BotsPage } from "./bots-page";

export function Bots() {
  const { path } = route.value;
  return path === undefined ? <BotsPage /> : <BotPage key={path} botId={path} />;
}
