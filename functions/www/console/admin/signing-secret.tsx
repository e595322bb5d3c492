/* The secret that signs the requests to a receiver. */

import { useState } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { FormSection } from "./detail-header";
import { CopyField, RotationDialog } from "./secret";
import { t } from "../../texts/translate";

const EXPLANATION = t`Within ten seconds, requests are signed with the new secret, too. While the old one is valid, they carry both signatures. Let your server accept both secrets for at least a minute. A request that it refuses with 401 or 403 is sent again with the new secret.`;
const FETCHED_EXPLANATION = t`There is also a new address from which your program fetches events. Within ten seconds, events are signed with the new secret, too. While the old secret and the old address are valid, events carry both signatures, and both addresses return the same events.`;

const ROTATION_TEXTS = {
  create: t`Create a new secret`,
  keptTime: t`How long the old secret stays valid`,
  created: t`The new secret`,
};

interface SigningSecretProps {
  /** Replaces the secret. The old one stays valid for `keptSeconds`. */
  rotate: (keptSeconds: number) => Promise<{ signing_secret: string; pull_url?: string | undefined }>;
  /** Whether a program fetches the requests from a secret address, which is replaced together with the secret. */
  isFetched?: boolean;
}

export function SigningSecret({ rotate, isFetched = false }: SigningSecretProps) {
  const [isRotating, setRotating] = useState(false);
  const replace = async (keptSeconds: number) => {
    const { signing_secret: secret, pull_url: address } = await rotate(keptSeconds);
    return {
      view: (
        <>
          {address !== undefined && <CopyField label={t`Address of the events`} name={t`the address`} text={address} />}
          <CopyField label={t`Signing secret`} name={t`the secret`} text={secret} />
        </>
      ),
      note:
        keptSeconds === 0
          ? t`Within ten seconds, requests are signed only with it.`
          : t`Within ten seconds, and until the old one ends, requests are signed with both secrets.`,
    };
  };
  return (
    <FormSection title={t`Signing secret`}>
      <p class="quiet-text">
        {isFetched
          ? t`Each event is signed (Standard Webhooks). The secret and the address from which your program fetches events were shown when they were created, and cannot be shown again.`
          : t`Each request is signed (Standard Webhooks). The secret was shown when it was created, and cannot be shown again.`}
      </p>
      <div>
        <button type="button" class="btn line" onClick={() => setRotating(true)}>
          <Icon name="refresh-cw" />
          {t`Create a new secret…`}
        </button>
      </div>
      {isRotating && (
        <RotationDialog
          title={t`Create a new signing secret?`}
          texts={ROTATION_TEXTS}
          explanation={isFetched ? FETCHED_EXPLANATION : EXPLANATION}
          rotate={replace}
          onClose={() => setRotating(false)}
        />
      )}
    </FormSection>
  );
}
