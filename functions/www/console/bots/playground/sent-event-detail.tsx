import { LoadedPage } from "../../admin/list-page";
import { useLoaded } from "../../admin/use-loaded";
import { AttemptList } from "../../deliveries/attempt-list";
import { SentRequestView } from "../../deliveries/sent-request-view";
import { useWorkspace } from "../../workspace-context";
import { t } from "../../../texts/translate";

/** The request and the attempts of an event, as the delivery log shows them. Unlike the timeline, they contain what the
 * bot has said when it refused the event. */
export function SentEventDetail({ chatId, seq }: { chatId: number; seq: number }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/deliveries/{chat_id}/{seq}", { path: { chat_id: chatId, seq } }));
  return (
    <LoadedPage loaded={loaded} what={t`The request`}>
      {(delivery) => (
        <>
          <SentRequestView delivery={delivery} />
          <AttemptList attempts={delivery.attempts} leftOut={delivery.attempts_left_out} />
        </>
      )}
    </LoadedPage>
  );
}
