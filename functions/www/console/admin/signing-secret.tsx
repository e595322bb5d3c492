/* The secret that signs the requests to a receiver. */

import { useState } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { FormSection } from "./detail-header";
import { CopyField, RotationDialog } from "./secret";

interface SigningSecretProps {
  /** Replaces the secret. The old one stays valid for `keptSeconds`. */
  rotate: (keptSeconds: number) => Promise<{ signing_secret: string }>;
}

export function SigningSecret({ rotate }: SigningSecretProps) {
  const [isRotating, setRotating] = useState(false);
  const replace = async (keptSeconds: number) => {
    const { signing_secret: secret } = await rotate(keptSeconds);
    return {
      view: <CopyField label="Signing secret" name="the secret" text={secret} />,
      note:
        keptSeconds === 0
          ? "Within ten seconds, requests are signed only with it."
          : "Within ten seconds, and until the old one ends, requests are signed with both secrets.",
    };
  };
  return (
    <FormSection title="Signing secret">
      <p class="quiet-text">
        Each request is signed (Standard Webhooks). The secret was shown when it was created, and cannot be shown again.
      </p>
      <div>
        <button type="button" class="btn line" onClick={() => setRotating(true)}>
          <Icon name="refresh-cw" />
          Create a new secret…
        </button>
      </div>
      {isRotating && (
        <RotationDialog
          title="Create a new signing secret?"
          thing="secret"
          explanation="Within ten seconds, requests are signed with the new secret, too. While the old one is valid, they carry both signatures. Let your server accept both secrets for at least a minute. A request that it refuses with 401 or 403 is sent again with the new secret."
          rotate={replace}
          onClose={() => setRotating(false)}
        />
      )}
    </FormSection>
  );
}
