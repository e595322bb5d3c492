const LIFETIME_MS = 1000;
/** The time in which a tab that shows a new message can tell the others that it has been read. */
const READ_DELAY_MS = 200;
/** After a tone, no tab plays another one for this time. */
const QUIET_MS = 3000;

/** Plays a tone for a new message if it is still unread after a moment. Of several tabs, one plays it. */
export function playSoundIfUnread(name: string, isUnread: () => boolean): void {
  setTimeout(() => {
    // Browsers refuse to play sounds until the visitor has used the page.
    if (!isUnread() || navigator.userActivation?.hasBeenActive === false) return;
    const play = () => {
      playSound();
      return new Promise((done) => setTimeout(done, QUIET_MS));
    };
    if (!navigator.locks) return void play();
    navigator.locks.request(`${name}.sound`, { ifAvailable: true }, (lock) => lock && play()).catch(playSound);
  }, READ_DELAY_MS);
}

function playSound(): void {
  const audio = new AudioContext();
  const gain = audio.createGain();
  const tone = audio.createOscillator();
  gain.gain.value = 0.08;
  gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.4);
  tone.frequency.value = 800;
  tone.connect(gain).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.4);
  // A browser that does not allow the sound never ends the tone.
  setTimeout(() => void audio.close(), LIFETIME_MS);
}
