import type { ShownDelivery } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { sentence } from "../../ui/words";
import { CodeBlock } from "../admin/code-block";
import { curlText, isForCurl, requestText } from "../admin/sent-request";

/** The request of a delivery, or why there is none. */
export function SentRequestView({ delivery }: { delivery: ShownDelivery }) {
  const request = delivery.request ?? undefined;
  if (request === undefined)
    return <p class="quiet-text">{sentence(delivery.request_error ?? "the request is not known")}</p>;
  return (
    <>
      <CodeBlock label="Request" text={requestText(request)} />
      <p class="quiet-text">It is built again from what is stored. Secrets are shortened.</p>
      {isForCurl(request) && <CopyButton text={curlText(request)} label="Copy as curl" caption="Copy as curl" />}
    </>
  );
}
