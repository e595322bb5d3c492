import type { ShownDelivery } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { sentence } from "../../ui/words";
import { CodeBlock } from "../admin/code-block";
import { curlText, isForCurl, requestText } from "../admin/sent-request";
import { t } from "../../texts/translate";

/** The request of a delivery, or why there is none. */
export function SentRequestView({ delivery }: { delivery: ShownDelivery }) {
  const request = delivery.request ?? undefined;
  if (request === undefined)
    return <p class="quiet-text">{sentence(delivery.request_error ?? t`the request is not known`)}</p>;
  return (
    <>
      <CodeBlock label={t`Request`} text={requestText(request)} />
      <p class="quiet-text">{t`It is built again from what is stored. Secrets are shortened.`}</p>
      {isForCurl(request) && <CopyButton text={curlText(request)} label={t`Copy as curl`} caption={t`Copy as curl`} />}
    </>
  );
}
