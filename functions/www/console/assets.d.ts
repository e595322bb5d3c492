declare module "*.svg" {
  const address: string;
  export default address;
}
declare module "*.css";
/** Programs of docs/examples, which the build includes as texts. */
declare module "*/integrator.py" {
  const text: string;
  export default text;
}
declare module "*/integrator.js" {
  const text: string;
  export default text;
}
declare module "*/integrator.php" {
  const text: string;
  export default text;
}
