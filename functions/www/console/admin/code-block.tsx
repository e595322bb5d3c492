/** Lines of code that scroll independently of the page. */
export const CodeBlock = ({ label, text }: { label: string; text: string }) => (
  <pre class="code-block scroll" tabIndex={0} role="region" aria-label={label} dir="ltr">
    {text}
  </pre>
);
