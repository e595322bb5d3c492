import type { ReceiverTestResult } from "../../api/types";
import { CodeBlock } from "./code-block";
import { prettyBody, requestText } from "./sent-request";
import { t } from "../../texts/translate";

interface ExchangeProps extends Pick<ReceiverTestResult, "request" | "response"> {
  /** The level below that of the heading before. */
  heading: "h3" | "h4";
}

/** The request of a test, and the body of its response. */
export const Exchange = ({ request, response, heading: Heading }: ExchangeProps) => (
  <>
    <Heading>{t`Request`}</Heading>
    <CodeBlock label={t`Request`} text={requestText(request)} />
    {response !== null && response.body !== "" && (
      <>
        <Heading>{t`Body of the response`}</Heading>
        <CodeBlock
          label={t`Body of the response`}
          text={response.body_truncated ? `${response.body}…` : prettyBody(response.body)}
        />
      </>
    )}
  </>
);
