/**
 * Opens the bare page in Firefox over WebDriver BiDi and carries calls to it.
 *
 * Lines on stdin are `[name, text]` for the page's `drive`; each gets one line of JSON on stdout.
 */
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const [executablePath, url, modules] = process.argv.slice(2);
const puppeteer = createRequire(`${modules}/`)("puppeteer-core");

const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const page = await browser.newPage();
await page.goto(url);
for await (const line of createInterface({ input: process.stdin })) {
  const [name, text] = JSON.parse(line);
  const answer = await page.evaluate((name, text) => drive(name, text), name, text);
  console.log(JSON.stringify(answer));
}
await browser.close();
