import { render } from "preact";
import { makeGame } from "./data/game";
import { unpack } from "./data/unpack";
import { Page } from "./Page";
import { makeSession, Shared } from "./session";

const page = document.getElementById("page")!;
unpack(document.getElementById("data")!.textContent!).then((unpacked) => {
  page.replaceChildren();
  render(
    <Shared.Provider value={makeSession(makeGame(unpacked))}>
      <Page />
    </Shared.Provider>,
    page,
  );
});
