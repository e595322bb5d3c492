import type { ReceiverTestResult } from "../../api/types";
import { CodeBlock } from "./code-block";
import { prettyBody, requestText } from "./sent-request";

interface ExchangeProps extends Pick<ReceiverTestResult, "request" | "response"> {
  /** The level below that of the heading before. */
  heading: "h3" | "h4";
}

/** The request of a test, and the body of its response. */
export const Exchange = ({ request, response, heading: Heading }: ExchangeProps) => (
  <>
    <Heading>Request</Heading>
    <CodeBlock label="Request" text={requestText(request)} />
    {response !== null && response.body !== "" && (
      <>
        <Heading>Body of the response</Heading>
        <CodeBlock
          label="Body of the response"
          text={response.body_truncated ? `${response.body}…` : prettyBody(response.body)}
        />
      </>
    )}
  </>
);
