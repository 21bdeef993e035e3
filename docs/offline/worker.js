// Keeps the pages of games that a visitor has opened, for visits without a network. Each is a single file.

const STORE = "games";

addEventListener("install", (event) => event.waitUntil(caches.open(STORE).then((store) => store.add("index.html"))));

addEventListener("fetch", (event) => {
  const { request } = event;
  const place = new URL(request.url).pathname.slice(new URL(registration.scope).pathname.length);
  if (request.mode !== "navigate" || !/^(|index\.html|play\/[\w-]+\.html)$/.test(place)) return;
  const key = place || "index.html";
  event.respondWith(
    fetch(request)
      .then((response) => {
        const copy = response.clone();
        if (copy.ok) event.waitUntil(caches.open(STORE).then((store) => store.put(key, copy)));
        return response;
      })
      .catch(async () => (await caches.match(key)) ?? Response.error()),
  );
});
