// The head of a table: what its columns are called, and which of them hold numbers.

export function Head({ columns }: { columns: [words: string, kind?: "number"][] }) {
  return (
    <thead>
      <tr>
        {columns.map(([words, kind]) => (
          <th scope="col" class={kind}>
            {words}
          </th>
        ))}
      </tr>
    </thead>
  );
}
