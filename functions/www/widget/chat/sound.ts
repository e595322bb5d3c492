const LIFETIME_MS = 1000;

/** Plays a short tone. Until the visitor has used the page, browsers suspend audio and the tone never ends, so a timer
 * closes the audio context. */
export function playSound(): void {
  const audio = new AudioContext();
  const gain = audio.createGain();
  const tone = audio.createOscillator();
  gain.gain.value = 0.08;
  gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.4);
  tone.frequency.value = 800;
  tone.connect(gain).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.4);
  setTimeout(() => void audio.close(), LIFETIME_MS);
}
