// The head of a table: the names of its columns, and which hold numbers.

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
